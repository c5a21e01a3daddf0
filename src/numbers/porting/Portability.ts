import { Effect } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { Numbers } from "../number/Number.ts"
import * as NumberPlan from "./NumberPlan.ts"
import type * as PortingView from "./PortingView.ts"

/** Decides which numbers can be ported here, guide/porting.md#which-numbers. */
export const make = Effect.map(Numbers, (numbers) => {
  /** Why a number cannot be ported, or its country and type. */
  const judged = Effect.fnUntraced(function* (phoneNumber: string) {
    const plan = NumberPlan.of(phoneNumber)
    if (plan === null) return { reason: "invalid_number" as const }
    const owner = yield* numbers.byDialled(phoneNumber)
    if (owner?.status === "port_pending") return { reason: "porting_in_progress" as const }
    if (owner !== null || (yield* numbers.isInInventory(phoneNumber))) return { reason: "already_here" as const }
    const { countryCode, numberType } = plan
    if (numberType === null || (yield* numbers.portingPrice(countryCode, numberType)) === null)
      return { reason: "not_supported" as const }
    return { reason: null, countryCode, numberType }
  })

  const chosen = (phoneNumbers: ReadonlyArray<string>, seed: string) =>
    Effect.forEach(phoneNumbers, (phoneNumber, index) =>
      Effect.flatMap(judged(phoneNumber), (found) => {
        if (found.reason === null) {
          const { countryCode, numberType } = found
          const numberId = Id.derive(seed, "did", index)
          return Effect.succeed<PortingView.OrderedNumber>({ phoneNumber, countryCode, numberType, numberId })
        }
        return Effect.fail(
          found.reason === "porting_in_progress"
            ? ApiError.of("porting_in_progress", `${phoneNumber} is being ported already`, "phone_numbers")
            : ApiError.of(
                "porting_not_supported",
                `${phoneNumber} cannot be ported here: ${found.reason}`,
                "phone_numbers"
              )
        )
      })
    )
  const unique = (phoneNumbers: ReadonlyArray<string>) =>
    new Set(phoneNumbers).size === phoneNumbers.length
      ? Effect.void
      : Effect.fail(ApiError.of("unprocessable", "phone_numbers holds a number twice", "phone_numbers"))
  return {
    /** Why it cannot be ported; null when an order with it is accepted. */
    reason: (phoneNumber: string) => Effect.map(judged(phoneNumber), ({ reason }) => reason),
    chosen,
    unique
  }
})
