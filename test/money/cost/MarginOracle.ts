import * as Increments from "../../../src/domain/price/Increments.ts"
import * as Money from "../../../src/domain/Money.ts"
import * as RateDeck from "../../../src/money/billing/RateDeck.ts"
import * as RateDecks from "../../../src/money/billing/RateDecks.ts"
import type { Metered } from "../../../src/telephony/call/stored/Carried.ts"
import type { Sums } from "../../../src/money/cost/Margin.ts"

/**
 * Computes margins call by call, as the guide describes them (operation.md#costs-and-margin). The statement is tested
 * against it.
 */
export interface Deck {
  /** The id of a route, or a host. */
  readonly trunk: string
  readonly effectiveAt: number
  readonly rates: ReadonlyArray<RateDeck.Rate>
}

export interface Call {
  readonly group: string | null
  readonly endedAt: number
  readonly costCents: number | null
  readonly metered: Metered
}

/** Takes `decks` in the order in which they were imported. A route's own deck goes before that of its host. */
export const minuteCost = (decks: ReadonlyArray<Deck>, hosts: ReadonlyMap<string, string>) => {
  const inOrder = decks.toSorted((one, other) => one.effectiveAt - other.effectiveAt)
  return (route: string, direction: RateDeck.Direction, number: string, at: number): Increments.Price | null => {
    const of = (trunk: string | undefined) =>
      RateDecks.holding(
        inOrder.filter((deck) => deck.trunk === trunk),
        at
      )
    const deck = of(route) ?? of(hosts.get(route))
    return deck === null ? null : RateDeck.make(deck.rates).named(direction, number)
  }
}

/** The sums of one call. `costMicroUsd` is null when the cost of some minute is unknown. */
const calledOf = ({ metered }: Call, costOf: ReturnType<typeof minuteCost>) => {
  let minutes = 0
  let costMicroUsd: number | null = 0
  for (const { direction, endedAt, kind, legId, startedAt } of metered.meters) {
    if (kind !== "leg" || startedAt === null || endedAt === null) continue
    const started = Money.startedMinutes(endedAt - startedAt)
    if (started === 0) continue
    const number = metered.legs.find(({ id }) => id === legId)?.to ?? null
    const cost = number === null ? null : costOf(metered.routeId, direction, number, startedAt)
    minutes += started
    costMicroUsd =
      costMicroUsd === null || cost === null
        ? null
        : costMicroUsd + Increments.microUsd(cost, Increments.started(cost, endedAt - startedAt))
  }
  return { minutes, costMicroUsd }
}

export const sums = (
  calls: ReadonlyArray<Call>,
  period: { readonly from: number; readonly to: number },
  costOf: ReturnType<typeof minuteCost>
): ReadonlyMap<string | null, Sums> => {
  const groups = new Map<string | null, Sums>()
  for (const call of calls) {
    if (call.endedAt < period.from || call.endedAt >= period.to) continue
    const { costMicroUsd, minutes } = calledOf(call, costOf)
    const debited = Money.microFromCents(call.costCents ?? 0)
    if (minutes === 0 && costMicroUsd === 0) continue
    const known = costMicroUsd === null ? 0 : 1
    const before = groups.get(call.group)
    groups.set(call.group, {
      calls: (before?.calls ?? 0) + 1,
      minutes: (before?.minutes ?? 0) + minutes,
      debitedMicroUsd: (before?.debitedMicroUsd ?? 0) + debited,
      knownCalls: (before?.knownCalls ?? 0) + known,
      knownDebitedMicroUsd: (before?.knownDebitedMicroUsd ?? 0) + known * debited,
      costMicroUsd: (before?.costMicroUsd ?? 0) + (costMicroUsd ?? 0)
    })
  }
  return groups
}
