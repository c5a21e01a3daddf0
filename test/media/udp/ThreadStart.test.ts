import { describe, expect, it } from "@effect/vitest"
import * as ThreadStart from "../../../src/media/udp/ThreadStart.ts"

/** Looks at a thread with these figures of its processor time, and gives the last verdict. */
const verdict = (used: Iterable<number | null>): string | null => {
  let state = ThreadStart.initial
  let why: string | null = null
  for (const usedMs of used) {
    ;[state, why] = ThreadStart.look(state, usedMs)
    if (why !== null) break
  }
  return why
}
const times = (count: number, usedMs: (nth: number) => number | null) =>
  Array.from({ length: count }, (_, nth) => usedMs(nth))

describe("the start of a thread", () => {
  it("is waited for while the thread gets a little of the processor, for many minutes", () => {
    expect(verdict(times(1_200, (nth) => nth * 5))).toBe(null)
  })

  it("is waited for when the thread gets nothing for a while", () => {
    expect(verdict([...times(59, () => null), 5, ...times(59, () => 5), 6])).toBe(null)
  })

  it("has failed when the thread does nothing for a minute", () => {
    expect(verdict(times(60, () => null))).toBe("not ready, and has done nothing for 60 s")
    expect(verdict([200, ...times(60, () => 200)])).toBe("not ready, and has done nothing for 60 s")
  })

  it("has failed when the thread uses more of the processor than a start can need", () => {
    expect(verdict(times(100, (nth) => nth * 1_000))).toBe("not ready after 61000 ms of the processor")
  })
})
