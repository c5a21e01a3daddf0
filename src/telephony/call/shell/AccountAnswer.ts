import { Effect, Option } from "effect"
import type { Accounts, Live, Request } from "../../../money/account/Account.ts"
import type * as EndWhy from "../../../domain/EndWhy.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { EntityId, TenantId } from "../../../domain/Id.ts"
import type { Offer } from "../machine/Reservation.ts"

/**
 * The answer of an account when a call or a conference asks for money during its life (src/money/README.md#admission).
 * An answer that does not come in time is a refusal.
 */

/** How long an answer is awaited. It must be well below `Reservation.leadMs`. */
const answerMs = 2_000

export const busy = ApiError.of("service_unavailable", "the service is busy; try again")

type Ledger = Pick<Accounts["Service"], "reserve">
interface Payer {
  readonly id: EntityId
  readonly tenantId: TenantId
}

/** None: no answer in time. The account may still reserve the money later, so it must be informed of what is held. */
export const reserve = (accounts: Ledger, { id, tenantId }: Payer, request: Request) =>
  Effect.timeoutOption(accounts.reserve(tenantId, id, request), answerMs)

/** The answer to a renewal: the increments of each meter; null: the account refused even the least, for `refusal`. */
interface Renewal {
  readonly reservedMinutes: Offer["minutes"] | null
  readonly refusal?: EndWhy.Code
}

/** The cause of a call that ends because its next minute was not reserved. */
const refused = (refusal: EndWhy.Code): Renewal => ({ reservedMinutes: null, refusal })
const refusals: Partial<Record<ApiError["code"], EndWhy.Code>> = {
  daily_spend_cap_exceeded: "daily_spend_cap",
  monthly_spend_cap_exceeded: "monthly_spend_cap",
  service_unavailable: "account_unanswered"
}

/** Asks for the best offer that the account grants. It grants a smaller one only where it refuses the first offer. */
export const renewed = (
  accounts: Ledger,
  payer: Payer,
  offers: readonly [Offer, ...ReadonlyArray<Offer>],
  more: Pick<Request, "places" | "takesTestMoney">,
  smallerOffers: ReadonlyArray<Offer> = []
): Effect.Effect<Renewal> => {
  const [least, ...others] = offers
  const cents = [least.cents, ...others.map((offer) => offer.cents)] as const
  const smaller = smallerOffers.map((offer) => offer.cents)
  return Effect.match(reserve(accounts, payer, { purpose: "renewal", offers: cents, smaller, ...more }), {
    onFailure: ({ code }) => refused(refusals[code] ?? "balance_exhausted"),
    onSuccess: (answer): Renewal => {
      if (Option.isNone(answer)) return refused("account_unanswered")
      const granted = [...smallerOffers, ...offers].findLast((offer) => offer.cents <= answer.value.reservedCents)
      return granted === undefined ? refused("balance_exhausted") : { reservedMinutes: granted.minutes }
    }
  })
}

/** The reservation of a row, when a commit under way may or may not be in the row that was read. */
export const larger = (inFlight: Live | null, stored: Live | null): Live | null =>
  inFlight === null || stored === null
    ? (stored ?? inFlight)
    : { ...stored, reservedCents: Math.max(stored.reservedCents, inFlight.reservedCents) }
