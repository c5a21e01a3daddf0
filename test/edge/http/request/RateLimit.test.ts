import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeWindow, RateLimit, RateLimited } from "../../../../src/edge/http/request/RateLimit.ts"
import * as SteppedClock from "../../../support/SteppedClock.ts"

const rule = { limit: 3, windowMs: 1_000 }

describe("makeWindow, guide/limits.md#rates", () => {
  it("lets `limit` requests of a subject through in any window, and says when there is room again", () => {
    const window = makeWindow(rule)
    expect([0, 100, 200].map((now) => window.take("a", now))).toEqual([0, 0, 0])
    expect(window.take("a", 300)).toBe(700)
    expect(window.take("a", 999)).toBe(1)
    expect(window.take("a", 1_000)).toBe(0)
    expect(window.take("a", 1_050)).toBe(50)
  })

  it("does not count refused requests", () => {
    const window = makeWindow(rule)
    for (const now of [0, 0, 0]) window.take("a", now)
    for (let now = 1; now < 1_000; now += 10) expect(window.take("a", now)).toBeGreaterThan(0)
    expect([1_000, 1_000, 1_000, 1_000].map((now) => window.take("a", now))).toEqual([0, 0, 0, 1_000])
  })

  it("counts subjects apart", () => {
    const window = makeWindow({ limit: 1, windowMs: 1_000 })
    expect([window.take("a", 0), window.take("b", 0), window.take("a", 0)]).toEqual([0, 0, 1_000])
  })

  it("forgets the subject that asked longest ago when there are too many", () => {
    const window = makeWindow({ limit: 1, windowMs: 1_000 }, 2)
    for (const subject of ["a", "b", "c"]) window.take(subject, 0)
    expect(window.size()).toBe(2)
    expect([window.take("b", 1), window.take("a", 1)]).toEqual([999, 0])
  })
})

describe("RateLimit", () => {
  it.effect("refuses the request beyond the limit with the seconds to wait", () =>
    Effect.gen(function* () {
      const limits = yield* RateLimit
      yield* limits.take("resend_by_email", "a@example.com")
      yield* TestClock.adjust("10 minutes")
      yield* limits.take("resend_by_email", "a@example.com")
      yield* limits.take("resend_by_email", "a@example.com")
      const refused = yield* Effect.flip(limits.take("resend_by_email", "a@example.com"))
      expect(refused).toBeInstanceOf(RateLimited)
      expect([refused.code, refused.retryAfterSecs]).toEqual(["rate_limited", 3_000])
      yield* TestClock.adjust("50 minutes")
      yield* limits.take("resend_by_email", "a@example.com")
    }).pipe(Effect.provide(RateLimit.layer({ signupPerHour: 5 })))
  )

  it.effect.each(SteppedClock.steps)("neither frees nor blocks anybody when the wall clock is set by %i ms", (ms) =>
    Effect.gen(function* () {
      const { clock, step } = yield* SteppedClock.make
      const limits = yield* RateLimit
      const take = Effect.provideService(limits.take("resend_by_email", "a@example.com"), Clock.Clock, clock)
      for (let nth = 0; nth < 3; nth++) yield* take
      yield* step(ms)
      const refused = yield* Effect.flip(take)
      expect(refused).toMatchObject({ retryAfterSecs: 3_600 })
      yield* TestClock.adjust("1 hour")
      yield* take
    }).pipe(Effect.provide(RateLimit.layer({ signupPerHour: 5 })))
  )
})
