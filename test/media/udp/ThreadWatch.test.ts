import { describe, expect, it } from "@effect/vitest"
import * as ThreadWatch from "../../../src/media/udp/ThreadWatch.ts"

interface Seen {
  readonly signs: number
  readonly usedMs: number | null
}

/** Looks once a second at a thread that may spin for five seconds, and gives for how long it was found to hang. */
const verdict = (seen: Iterable<Seen>): number | null => {
  let state = ThreadWatch.initial
  let hangsMs: number | null = null
  for (const now of seen) {
    ;[state, hangsMs] = ThreadWatch.look(state, now, { lookMs: 1_000, patienceMs: 5_000 })
    if (hangsMs !== null) break
  }
  return hangsMs
}
const looks = (count: number, of: (nth: number) => Seen) => Array.from({ length: count }, (_, nth) => of(nth))

describe("the watch over a thread", () => {
  it("ends one that spins without a sign for longer than its patience", () => {
    expect(verdict(looks(10, (nth) => ({ signs: 1, usedMs: nth * 900 })))).toBe(6_000)
  })

  it("leaves one alone that gives signs, however few and however busy it is", () => {
    expect(verdict(looks(600, (nth) => ({ signs: Math.floor(nth / 5), usedMs: nth * 1_000 })))).toBe(null)
  })

  it("leaves one alone that a busy machine gives no time for many seconds", () => {
    const starved = looks(20, () => ({ signs: 7, usedMs: 40 }))
    expect(verdict([...starved, { signs: 8, usedMs: 45 }, ...starved])).toBe(null)
  })

  it("ends one that neither gives a sign nor uses the processor for four times its patience", () => {
    expect(verdict(looks(60, () => ({ signs: 7, usedMs: null })))).toBe(21_000)
  })

  it("counts looks and not time, so that a parent that stood still for an hour ends nothing", () => {
    // Between the second and the third look the whole process was stopped.
    const before = looks(2, () => ({ signs: 3, usedMs: 100 }))
    expect(verdict([...before, { signs: 3, usedMs: 100 }, { signs: 4, usedMs: 101 }])).toBe(null)
  })

  it("sees a sign in shared memory before the parent has read any message", () => {
    // The parent had long turns, so the thread's messages wait, but its counter goes up.
    expect(verdict(looks(60, (nth) => ({ signs: nth, usedMs: nth * 300 })))).toBe(null)
  })
})
