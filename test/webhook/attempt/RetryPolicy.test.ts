import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as RetryPolicy from "../../../src/webhook/attempt/RetryPolicy.ts"

const answered = (statusCode: number, retryAfterMs: number | null = null): RetryPolicy.Reply => ({
  type: "answered",
  statusCode,
  retryAfterMs
})
const transportError: RetryPolicy.Reply = {
  type: "transport_error",
  message: "timeout: no complete answer in time"
}
const retry = (retryAfterMs: number): RetryPolicy.Verdict => ({ status: "queued", retryAfterMs })
const failed: RetryPolicy.Verdict = { status: "failed" }
const succeeded: RetryPolicy.Verdict = { status: "succeeded" }

describe("what becomes of a delivery, guide/webhooks.md#deliveries", () => {
  const rows: ReadonlyArray<readonly [string, RetryPolicy.Reply, RetryPolicy.Verdict]> = [
    ["200", answered(200), succeeded],
    ["204", answered(204), succeeded],
    ["299", answered(299), succeeded],
    ["a stray 1xx", answered(101), retry(30_000)],
    ["301", answered(301), retry(30_000)],
    ["304", answered(304), retry(30_000)],
    ["400", answered(400), failed],
    ["404", answered(404), failed],
    ["408", answered(408), failed],
    ["410", answered(410), failed],
    ["425", answered(425), failed],
    ["429", answered(429), failed],
    ["408 with Retry-After", answered(408, 7_000), retry(7_000)],
    ["425 with Retry-After", answered(425, 7_000), retry(7_000)],
    ["429 with Retry-After", answered(429, 7_000), retry(7_000)],
    ["429 with a Retry-After of nothing", answered(429, 0), retry(1_000)],
    ["429 with a Retry-After of a year", answered(429, 365 * 86_400_000), retry(86_400_000)],
    ["400 with Retry-After", answered(400, 7_000), failed],
    ["410 with Retry-After", answered(410, 7_000), failed],
    ["503 with Retry-After", answered(503, 7_000), retry(30_000)],
    ["499", answered(499), failed],
    ["500", answered(500), retry(30_000)],
    ["503", answered(503), retry(30_000)],
    ["a status of no class", answered(999), retry(30_000)],
    ["a transport error", transportError, retry(30_000)],
    ["nobody subscribed any more", { type: "withdrawn" }, failed]
  ]
  it.each(rows)("a first attempt answered by %s", (_name, reply, verdict) => {
    expect(RetryPolicy.judge(1, reply)).toStrictEqual(verdict)
  })

  it("waits 30 s, 2 min, 10 min, 1 h, 6 h and 24 h before attempts 2 to 7, and gives up after the seventh", () => {
    const secondsAfter = [1, 2, 3, 4, 5, 6].map((attemptNo) => RetryPolicy.judge(attemptNo, answered(503)))
    expect(secondsAfter).toStrictEqual([30, 120, 600, 3_600, 21_600, 86_400].map((seconds) => retry(seconds * 1000)))
    expect(RetryPolicy.judge(7, answered(503))).toStrictEqual(failed)
    expect(RetryPolicy.judge(7, transportError)).toStrictEqual(failed)
  })

  it("waits for Retry-After, and from the second attempt on as long as the schedule waited before", () => {
    const waits = (retryAfterMs: number) =>
      [1, 2, 3, 4, 5, 6].map((attemptNo) => RetryPolicy.judge(attemptNo, answered(429, retryAfterMs)))
    expect(waits(2_000)).toStrictEqual([2, 30, 120, 600, 3_600, 21_600].map((seconds) => retry(seconds * 1000)))
    expect(waits(900_000)).toStrictEqual([900, 900, 900, 900, 3_600, 21_600].map((seconds) => retry(seconds * 1000)))
    expect(RetryPolicy.judge(7, answered(429, 2_000))).toStrictEqual(failed)
  })

  it("succeeds at the seventh attempt too", () => {
    expect(RetryPolicy.judge(7, answered(200))).toStrictEqual(succeeded)
  })

  it.prop(
    "no status and no attempt number leads to an eighth attempt",
    {
      attemptNo: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 })),
      statusCode: Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 999 })),
      retryAfterMs: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e12 })))
    },
    ({ attemptNo, retryAfterMs, statusCode }) => {
      const verdict = RetryPolicy.judge(attemptNo, answered(statusCode, retryAfterMs))
      expect(verdict.status !== "queued" || attemptNo < 7).toBe(true)
    }
  )
})

describe("Retry-After, RFC 9110 section 10.2.3", () => {
  const now = Date.UTC(2026, 0, 1)
  it.each([
    ["seconds", "120", 120_000],
    ["none at all", "0", 0],
    ["a date", "Thu, 01 Jan 2026 00:02:00 GMT", 120_000],
    ["a date that has passed", "Wed, 31 Dec 2025 23:00:00 GMT", 0],
    ["an absent header", undefined, null],
    ["an empty one", "", null],
    ["a fraction", "1.5", null],
    ["a negative number", "-1", null],
    ["words", "soon", null],
    ["a bare year", "2027-01-01", null],
    ["two values", "1, 2", null],
    ["more digits than a number holds", "9".repeat(400), 9e15]
  ] as const)("is read as %s", (_name, header, wanted) => {
    const found = RetryPolicy.retryAfterMs(header, now)
    if (wanted === null || found === null) expect(found).toBe(wanted)
    else expect(Math.min(found, 9e15)).toBe(wanted)
  })
})

describe("the error message of a delivery", () => {
  it("is null after a success, names the status, or says what broke", () => {
    expect(RetryPolicy.explain(answered(201))).toBeNull()
    expect(RetryPolicy.explain(answered(502))).toBe("the target answered 502")
    expect(RetryPolicy.explain(transportError)).toBe("timeout: no complete answer in time")
  })
})
