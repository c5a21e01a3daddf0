import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as JobAttempt from "../../../src/runtime/job/JobAttempt.ts"

const count = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Retry = Schema.Struct({ attempts: count(1, 200), firstMs: count(1, 60_000), maxMs: count(1, 3_600_000) })

describe("What becomes of a row after an attempt", () => {
  it.prop(
    "it goes when it is done, and comes back after its period when it recurs",
    { retry: Retry, attempt: count(1, 300), everyMs: count(1, 86_400_000) },
    ({ retry, attempt, everyMs }) => {
      expect(JobAttempt.after({ retry }, attempt, null)).toStrictEqual({ type: "gone" })
      expect(JobAttempt.after({ retry, everyMs }, attempt, null)).toStrictEqual({
        type: "due",
        inMs: everyMs,
        error: null
      })
    }
  )

  it.prop("it is tried as often as it may be, and is then kept as failed", { retry: Retry }, ({ retry }) => {
    for (let attempt = 1; attempt < retry.attempts; attempt++) {
      const next = JobAttempt.after({ retry }, attempt, "no")
      expect(next.type).toBe("due")
    }
    expect(JobAttempt.after({ retry }, retry.attempts, "no")).toStrictEqual({ type: "failed", error: "no" })
    expect(JobAttempt.after({ retry }, retry.attempts + 5, "no")).toStrictEqual({ type: "failed", error: "no" })
  })

  it.prop(
    "it waits twice as long each time, up to the longest wait",
    { retry: Retry, attempt: count(1, 300) },
    ({ retry, attempt }) => {
      const [now, next] = [JobAttempt.delayMs(retry, attempt), JobAttempt.delayMs(retry, attempt + 1)]
      expect(now).toBeLessThanOrEqual(retry.maxMs)
      expect(next).toBe(Math.min(retry.maxMs, 2 * now))
      expect(JobAttempt.delayMs(retry, 1)).toBe(Math.min(retry.maxMs, retry.firstMs))
    }
  )

  it.prop(
    "what recurs never stops, and a failure never makes it rarer",
    { retry: Retry, attempt: count(1, 300), everyMs: count(1, 86_400_000) },
    ({ retry, attempt, everyMs }) => {
      const next = JobAttempt.after({ retry, everyMs }, attempt, "no")
      expect(next.type).toBe("due")
      if (next.type === "due") expect(next.inMs).toBeLessThanOrEqual(everyMs)
    }
  )

  it.prop("a lease outlasts the longest attempt", { timeoutMs: count(1, 3_600_000) }, ({ timeoutMs }) =>
    expect(JobAttempt.leaseMs({ timeoutMs })).toBeGreaterThan(timeoutMs)
  )
})

describe("The next look", () => {
  it.prop(
    "is a second away while something is near, and a minute at most",
    { inMs: count(-1_000_000, 1_000_000) },
    ({ inMs }) => {
      const wait = JobAttempt.lookInMs(inMs, false)
      expect(wait).toBeGreaterThanOrEqual(1_000)
      expect(wait).toBeLessThanOrEqual(60_000)
      if (inMs >= 1_000 && inMs <= 60_000) expect(wait).toBe(inMs)
    }
  )
  it("is a minute away when there is nothing", () => expect(JobAttempt.lookInMs(null, false)).toBe(60_000))
  it("is a second away while a row is expected", () => {
    expect(JobAttempt.lookInMs(null, true)).toBe(1_000)
    expect(JobAttempt.lookInMs(50_000, true)).toBe(1_000)
  })
})
