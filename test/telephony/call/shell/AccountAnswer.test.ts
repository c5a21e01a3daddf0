import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Accounts } from "../../../../src/money/account/Account.ts"
import { ApiError } from "../../../../src/domain/ApiError.ts"
import * as AccountAnswer from "../../../../src/telephony/call/shell/AccountAnswer.ts"
import * as Ids from "../../../support/Ids.ts"

const renewed = (
  answer: ReturnType<Accounts["Service"]["reserve"]>,
  smaller: Parameters<typeof AccountAnswer.renewed>[4] = []
) =>
  AccountAnswer.renewed(
    { reserve: () => answer },
    { id: Ids.call("c"), tenantId: Ids.tenant("t") },
    [
      { minutes: [1], cents: 2 },
      { minutes: [5], cents: 10 }
    ],
    { places: 1 },
    smaller
  )

const refusals = [
  ["balance_insufficient", "balance_exhausted"],
  ["auto_recharge_failed", "balance_exhausted"],
  ["daily_spend_cap_exceeded", "daily_spend_cap"],
  ["monthly_spend_cap_exceeded", "monthly_spend_cap"],
  ["service_unavailable", "account_unanswered"]
] as const

for (const [code, refusal] of refusals)
  it.effect(`a renewal that the account refuses with ${code} ends the call for ${refusal}`, () =>
    Effect.gen(function* () {
      const answer = yield* renewed(Effect.fail(ApiError.of(code, "refused")))
      expect(answer).toStrictEqual({ reservedMinutes: null, refusal })
    })
  )

it.effect("a renewal that the account does not answer in time ends the call for that", () =>
  Effect.gen(function* () {
    const asked = yield* Effect.forkChild(renewed(Effect.never))
    yield* TestClock.adjust("1 minute")
    expect(yield* Fiber.join(asked)).toStrictEqual({ reservedMinutes: null, refusal: "account_unanswered" })
  })
)

it.effect("a renewal has the minutes of the largest offer that was granted", () =>
  Effect.gen(function* () {
    const granted = (reservedCents: number) => renewed(Effect.succeed({ partition: 0, reservedCents }))
    expect(yield* granted(10)).toStrictEqual({ reservedMinutes: [5] })
    expect(yield* granted(9)).toStrictEqual({ reservedMinutes: [1] })
    expect(yield* granted(1)).toStrictEqual({ reservedMinutes: null, refusal: "balance_exhausted" })
    const smaller = [{ minutes: [0], cents: 1 }]
    expect(yield* renewed(Effect.succeed({ partition: 0, reservedCents: 1 }), smaller)).toEqual({
      reservedMinutes: [0]
    })
  })
)
