import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { RateLimit } from "../../../../src/edge/http/request/RateLimit.ts"
import * as SteppedClock from "../../../support/SteppedClock.ts"

describe("RateLimit", () => {
  it.effect("refuses the request beyond the limit with the seconds to wait", () =>
    Effect.gen(function* () {
      const limits = yield* RateLimit
      yield* limits.take("resend_by_email", "a@example.com")
      yield* TestClock.adjust("10 minutes")
      yield* limits.take("resend_by_email", "a@example.com")
      yield* limits.take("resend_by_email", "a@example.com")
      const refused = yield* Effect.flip(limits.take("resend_by_email", "a@example.com"))
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
