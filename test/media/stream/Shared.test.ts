import { describe, expect, it } from "@effect/vitest"
import * as ReadBudget from "../../../src/media/stream/ReadBudget.ts"
import * as FairShare from "../../../src/domain/fair/FairShare.ts"
import * as Ids from "../../support/Ids.ts"

const loud = Ids.tenant("loud")
const quiet = Ids.tenant("quiet")

/**
 * Returns how many messages are read, in this many seconds, of servers that always have one more: for each budget, all
 * in rounds of 20 ms.
 */
const flood = (budgets: ReadonlyArray<ReadBudget.ReadBudget>, seconds: number, size = 100): ReadonlyArray<number> => {
  const read = budgets.map(() => 0)
  for (let at = 0; at <= seconds * 1000; at += 20)
    budgets.forEach((budget, index) => {
      for (let goesOn = budget.mayRead(at); goesOn; goesOn = budget.take(size, 1)) read[index] = (read[index] ?? 0) + 1
    })
  return read
}
const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)

describe("What streams of a thread share", () => {
  it("is room for sound, of which one tenant leaves half to the others", () => {
    const capacity = FairShare.counted({ capacity: 1000 })
    const [one, other] = [capacity.of(loud), capacity.of(loud)]
    one.add(400)
    expect(other.allows(100)).toBe(true)
    other.add(100)
    expect(other.allows(2)).toBe(false)
    expect(capacity.of(quiet).allows(250)).toBe(true)
    expect(capacity.of(quiet).allows(251)).toBe(true)
    expect(capacity.of(quiet).allows(501)).toBe(false)
    one.add(-400)
    other.add(-100)
    expect(capacity.used()).toBe(0)
    expect(one.allows(1000)).toBe(true)
  })

  it("is time to read: many streams of one tenant flood no more than one beyond their ordinary speech", () => {
    const { frames, framesPerSecond } = ReadBudget.ordinary
    const each = (seconds: number) => frames + seconds * framesPerSecond
    const together = (seconds: number) => ReadBudget.ofTenant.frames + seconds * ReadBudget.ofTenant.framesPerSecond
    const tenants = ReadBudget.tenants()
    const streams = Array.from({ length: 100 }, () => ReadBudget.make(tenants, loud, 0))
    const read = flood(streams, 10)
    expect(Math.min(...read)).toBeGreaterThanOrEqual(each(9))
    expect(sum(read)).toBeLessThan(100 * each(11) + together(11))
    // Other tenants are read no less for it.
    expect(sum(flood([ReadBudget.make(tenants, quiet, 0)], 10))).toBeGreaterThan(10_000)
  })

  it("bounds octets as it bounds messages", () => {
    const tenants = ReadBudget.tenants()
    const size = 100_000
    const streams = Array.from({ length: 100 }, () => ReadBudget.make(tenants, loud, 0))
    const octets = sum(flood(streams, 10, size)) * size
    const most = (of: typeof ReadBudget.ordinary) => of.octets + 11 * of.octetsPerSecond
    // Each stream may exceed its budget by one message.
    expect(octets).toBeLessThan(100 * (most(ReadBudget.ordinary) + 2 * size) + most(ReadBudget.ofTenant))
  })

  it("is forgotten with the last stream of a tenant, and not before", () => {
    const tenants = ReadBudget.tenants()
    const [one, other] = [ReadBudget.make(tenants, loud, 0), ReadBudget.make(tenants, loud, 0)]
    expect(flood([one, other], 0)).toEqual([
      ReadBudget.limits.frames,
      2 * ReadBudget.ordinary.frames + ReadBudget.ofTenant.frames - ReadBudget.limits.frames
    ])
    one.leave()
    const third = ReadBudget.make(tenants, loud, 0)
    expect(flood([third], 0)).toEqual([ReadBudget.ordinary.frames])
    other.leave()
    third.leave()
    expect(flood([ReadBudget.make(tenants, loud, 0)], 0)).toEqual([ReadBudget.limits.frames])
  })
})
