import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as TokenBucket from "../../../src/domain/fair/TokenBucket.ts"
import * as StrangerSource from "../../../src/carrier/sip/ingress/StrangerSource.ts"
import * as Random from "../../support/Random.ts"

const each: TokenBucket.Rate = { burst: 3, everyMs: 1_000 }
const all: TokenBucket.Rate = { burst: 8, everyMs: 200 }
const small: TokenBucket.SharedRate = { each, all, mostHolders: 5 }
const times = (count: number, act: () => boolean) => Array.from({ length: count }, act).filter((taken) => taken).length

describe("answers to strangers", () => {
  it("are a few at once for each address, and one more with each second", () => {
    const buckets = TokenBucket.byHolder(small)
    expect(times(10, () => buckets.take("a", 0))).toBe(3)
    expect(times(10, () => buckets.take("b", 0))).toBe(3)
    expect(times(10, () => buckets.take("a", 999))).toBe(0)
    expect(times(10, () => buckets.take("a", 2_000))).toBe(2)
    expect(times(10, () => buckets.take("a", 1_000_000))).toBe(3)
  })

  it("are counted for a network of 64 bits where the address is IPv6", () => {
    const buckets = TokenBucket.byHolder(small)
    const taken = (address: string) => times(2, () => buckets.take(StrangerSource.of(address), 0))
    expect(["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"].map(taken)).toEqual([2, 1, 2])
  })

  it("are not given to new addresses while there is no room, and nobody's bucket is forgotten for them", () => {
    const buckets = TokenBucket.byHolder({ ...small, all: { ...all, burst: 1_000 } })
    expect(times(3, () => buckets.take("a", 0))).toBe(3)
    for (let other = 0; other < 100; other++) buckets.take(`other ${other}`, 0)
    expect(buckets.size()).toBe(5)
    expect(buckets.take("late", 500)).toBe(false)
    expect(buckets.take("a", 500)).toBe(false)
    expect(buckets.take("late", 3_000)).toBe(true)
    expect(buckets.size()).toBe(1)
  })

  it.prop(
    "are never more than the bucket of their address, nor than that of all, however many addresses ask",
    { seed: Schema.Int },
    ({ seed }) => {
      const random = Random.make(seed)
      const buckets = TokenBucket.byHolder(small)
      const given: Array<{ readonly address: string; readonly at: number }> = []
      let now = 0
      for (let step = 0; step < 300; step++) {
        now += random.below(4) === 0 ? random.below(1_500) : 0
        const address = `address ${random.below(12)}`
        if (buckets.take(address, now)) given.push({ address, at: now })
        expect(buckets.size()).toBeLessThanOrEqual(small.mostHolders)
      }
      /** The answers in any stretch of time beyond the content of a bucket and its refill. */
      const excess = (answers: typeof given, burst: number, everyMs: number) =>
        Math.max(
          0,
          ...answers.flatMap(({ at }, first) =>
            answers.slice(first).map((answer, more) => more + 1 - burst - (answer.at - at) / everyMs)
          )
        )
      expect(excess(given, all.burst, all.everyMs)).toBe(0)
      for (const address of new Set(given.map((answer) => answer.address))) {
        const answers = given.filter((answer) => answer.address === address)
        expect(excess(answers, each.burst, each.everyMs)).toBe(0)
      }
    }
  )
})
