import { RateDeck, RateDecks } from "../../../money/billing/Billing.ts"
import type { Steps } from "./PrefixSteps.ts"

/** What calls of a period cost, in the form in which a statement looks costs up. */
export interface Tariff {
  readonly decks: ReadonlyArray<{ readonly deck: number; readonly direction: RateDeck.Direction } & Steps>
  readonly spans: ReadonlyArray<Span>
}

/** Which deck holds for a route, in epoch milliseconds; `until` null: without an end. */
interface Span {
  readonly route: string
  readonly deck: number
  readonly since: number
  readonly until: number | null
}

/**
 * The spans of a route; `decks` in the order in which they hold. From the moment on from which a route has a deck of its
 * own, that of its host holds no longer.
 */
export const spansOf = (
  route: string,
  host: string | null,
  decks: ReadonlyArray<Pick<RateDecks.Dated, "id" | "effectiveAt"> & { readonly trunk: string }>
): ReadonlyArray<Span> => {
  const own = decks.filter(({ trunk }) => trunk === route)
  const ownFrom = own[0]?.effectiveAt ?? Infinity
  const held = [...decks.filter(({ effectiveAt, trunk }) => trunk === host && effectiveAt < ownFrom), ...own]
  return held
    .map(({ effectiveAt, id }, index) => ({
      route,
      deck: id,
      since: effectiveAt,
      until: held[index + 1]?.effectiveAt ?? null
    }))
    .filter(({ since, until }) => until === null || since < until)
}
