import { RateDeck, RateDecks } from "../billing/Billing.ts"
import type { Steps } from "./PrefixSteps.ts"

/** The costs of calls in a period, in the form that a statement needs to look them up. */
export interface Tariff {
  readonly decks: ReadonlyArray<{ readonly deck: number; readonly direction: RateDeck.Direction } & Steps>
  readonly spans: ReadonlyArray<Span>
}

/** The deck that holds for a route between two moments, in epoch milliseconds. `until` null: it has no end. */
interface Span {
  readonly route: string
  readonly deck: number
  readonly since: number
  readonly until: number | null
}

/**
 * Takes `decks` in the order in which they hold. Once a route has a deck of its own, the decks of its host no longer
 * hold for it.
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
