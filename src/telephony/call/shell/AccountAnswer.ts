import { Effect, Option } from "effect"
import type { Accounts, Live, Request } from "../../../money/account/Account.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { EntityId, TenantId } from "../../../domain/Id.ts"
import type { Offer } from "../machine/Reservation.ts"

/**
 * What a call, or a conference, hears from its account when it asks for money in the middle of its life
 * (src/README.md#admission). An answer that does not come in time is a refusal.
 */

/** How long an answer is awaited. It must be well below `Reservation.leadMs`. */
const answerMs = 2_000

export const busy = ApiError.of("service_unavailable", "the service is busy; try again")

type Ledger = Pick<Accounts["Service"], "reserve">
interface Payer {
  readonly id: EntityId
  readonly tenantId: TenantId
}

/** None: it did not answer in time. It may still reserve it, so it has to hear what is held. */
export const reserve = (accounts: Ledger, { id, tenantId }: Payer, request: Request) =>
  Effect.timeoutOption(accounts.reserve(tenantId, id, request), answerMs)

/** Asks for the least of the offers, and gladly for more: the minutes of each meter; null: not even the least. */
export const renewed = (
  accounts: Ledger,
  payer: Payer,
  offers: readonly [Offer, ...ReadonlyArray<Offer>],
  places: number
): Effect.Effect<Offer["minutes"] | null> => {
  const [least, ...more] = offers
  const cents = [least.cents, ...more.map((offer) => offer.cents)] as const
  return Effect.match(reserve(accounts, payer, { purpose: "renewal", offers: cents, places }), {
    onFailure: () => null,
    onSuccess: (answer) =>
      Option.isNone(answer)
        ? null
        : (offers.findLast((offer) => offer.cents <= answer.value.reservedCents)?.minutes ?? null)
  })
}

/** What is reserved by a row, of which a commit under way may have been read or not. */
export const larger = (inFlight: Live | null, stored: Live | null): Live | null =>
  inFlight === null || stored === null
    ? (stored ?? inFlight)
    : { ...stored, reservedCents: Math.max(stored.reservedCents, inFlight.reservedCents) }
