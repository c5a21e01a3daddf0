/**
 * The purpose of a reservation, and what an account demands of it, guide/money.md#admission and
 * guide/money.md#reservations.
 *
 * `outbound`: a new call. `answer`: an inbound call from its answer on. `transfer`: another leg of a call that talks.
 * `renewal`: the next minutes of such a call, and its work. `order`: a debit that must be covered for as long as its
 * transaction takes.
 */
export type Purpose = "outbound" | "answer" | "transfer" | "renewal" | "order"

/** The facts that one request depends on. Amounts are in cents. The request's own reservation counts as free. */
export interface Facts {
  readonly isActive: boolean
  /** Balance plus credit limit. */
  readonly fundsCents: number
  /** Whether the last auto-recharge failed. */
  readonly rechargeFailed: boolean
  /** The funds less all reservations. */
  readonly freeCents: number
  /** The room under the cap beside spend and reservations. */
  readonly dayLeftCents: number
  readonly monthLeftCents: number
  /** Free places of the concurrent limit, after those that the request wants. */
  readonly placesLeft: number
}

/** Why an account refuses, by the error codes of the API. */
export type Refusal =
  | "tenant_suspended"
  | "balance_insufficient"
  | "auto_recharge_failed"
  | "insufficient_balance"
  | "daily_spend_cap_exceeded"
  | "monthly_spend_cap_exceeded"
  | "concurrent_call_cap_exceeded"

/** Returns the reason to refuse a request that costs at least `cents`; null when there is none. */
type Check = (facts: Facts, cents: number) => Refusal | null

const active: Check = ({ isActive }) => (isActive ? null : "tenant_suspended")
const unfunded = ({ fundsCents, rechargeFailed }: Facts): Refusal =>
  fundsCents <= 0 && rechargeFailed ? "auto_recharge_failed" : "balance_insufficient"
const funded: Check = (facts) => (facts.fundsCents > 0 ? null : unfunded(facts))
const covered: Check = (facts, cents) => (cents <= Math.max(0, facts.freeCents) ? null : unfunded(facts))
const orderCovered: Check = ({ freeCents }, cents) => (cents <= Math.max(0, freeCents) ? null : "insufficient_balance")
/** A request without cost passes a cap that is reached, unless it is a new call. */
const dayCap: Check = ({ dayLeftCents }, cents) =>
  cents <= Math.max(0, dayLeftCents) ? null : "daily_spend_cap_exceeded"
const monthCap: Check = ({ monthLeftCents }, cents) =>
  cents <= Math.max(0, monthLeftCents) ? null : "monthly_spend_cap_exceeded"
const dayOpen: Check = ({ dayLeftCents }) => (dayLeftCents > 0 ? null : "daily_spend_cap_exceeded")
const monthOpen: Check = ({ monthLeftCents }) => (monthLeftCents > 0 ? null : "monthly_spend_cap_exceeded")
const place: Check = ({ placesLeft }) => (placesLeft >= 0 ? null : "concurrent_call_cap_exceeded")

/**
 * The checks of each purpose in order, guide/calls.md#order-of-checks. Caps are for calls: a number can be ordered when
 * a cap is reached.
 */
const checks: Readonly<Record<Purpose, ReadonlyArray<Check>>> = {
  outbound: [active, funded, covered, dayOpen, dayCap, monthOpen, monthCap, place],
  transfer: [active, funded, covered, dayOpen, dayCap, monthOpen, monthCap, place],
  answer: [covered, dayCap, monthCap],
  renewal: [covered, dayCap, monthCap],
  order: [orderCovered]
}

/** The places of the concurrent limit that the purpose takes by default. */
export const placesOf = (purpose: Purpose): number => (purpose === "order" ? 0 : 1)

/** More than the least offer comes from a tenth of the free money, so that no request reserves what others need. */
const plenty = 10

/**
 * Returns the reservation: the largest offer that leaves plenty, or else the least one, or else the highest of the
 * smaller amounts that pass; or the first refusal of the least offer.
 */
export const judge = (
  purpose: Purpose,
  offers: readonly [number, ...ReadonlyArray<number>],
  facts: Facts,
  smaller: ReadonlyArray<number> = []
): Refusal | { readonly reservedCents: number } => {
  const [least] = offers
  const refusalOf = (cents: number) => checks[purpose].map((check) => check(facts, cents)).find((code) => code !== null)
  const refused = refusalOf(least)
  if (refused !== undefined) {
    const passing = smaller.findLast((cents) => refusalOf(cents) === undefined)
    return passing === undefined ? refused : { reservedCents: passing }
  }
  const free = Math.min(facts.freeCents, facts.dayLeftCents, facts.monthLeftCents) - least
  return { reservedCents: offers.findLast((cents) => (cents - least) * plenty <= free) ?? least }
}
