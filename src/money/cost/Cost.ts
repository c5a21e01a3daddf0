import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { RateDeck, RateDecks, RateRows } from "../billing/Billing.ts"
import * as TimeSlices from "../../domain/time/TimeSlices.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Timestamp from "../../domain/time/Timestamp.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as PrefixSteps from "./PrefixSteps.ts"
import * as Tariff from "./Tariff.ts"

export * as Margin from "./Margin.ts"

interface CostDeck extends RateDecks.Dated {
  /** The id of a route, or the host of several routes. */
  readonly trunk: string
}

/** No call lasts longer, so every call that ends in a period began at most this long before the period. */
const longestCallMs = 7 * 86_400_000

/**
 * The operator's costs of trunks, guide/operation.md#costs-and-margin: decks like those of prices, for one route or for
 * all routes to a host. A deck may hold from a moment in the past, because calls are not charged by it.
 */
export const make = Effect.gen(function* () {
  const { all, some, sql, transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy

  /** All decks, in the order in which they hold. */
  const decks = all<CostDeck>`
    SELECT id, trunk, effective_at, imported_at, rows
    FROM cost_deck ORDER BY effective_at, id`
  const rows = RateRows.of(sql, "cost_rate")
  const ratesOf = rows.read

  return {
    decks,
    ratesOf: Effect.fnUntraced(function* (id: number) {
      if (!(yield* decks).some((deck) => deck.id === id))
        return yield* ApiError.of("not_found", "there is no such deck")
      return yield* ratesOf(id)
    }),
    /** `trunk` is the id of a route, or a host that some route has. With `effectiveAt` null the deck holds at once. */
    set: Effect.fnUntraced(function* (trunk: string, rates: ReadonlyArray<RateDeck.Rate>, effectiveAt: number | null) {
      const now = yield* Clock.currentTimeMillis
      const from = effectiveAt ?? now
      const fault = yield* TimeSlices.run(() => RateDeck.fault(rates))
      if (fault !== null) return yield* ApiError.of("invalid_request", fault)
      const isKnown = yield* some`SELECT 1 FROM route WHERE id = ${trunk} OR host = ${trunk} LIMIT 1`
      if (!isKnown) return yield* ApiError.of("not_found", `no route has the id or the host ${trunk}`)
      const held = RateDecks.holding(
        (yield* decks).filter((deck) => deck.trunk === trunk),
        from
      )
      const before = held === null ? [] : yield* ratesOf(held.id)
      const changed = yield* TimeSlices.run(() => RateDeck.changes(before, rates))
      yield* Effect.gen(function* () {
        const [made] = yield* sql<{ readonly id: number }>`
          INSERT INTO cost_deck (trunk, effective_at, imported_at, rows)
          VALUES (${trunk}, ${timestamptz(from)}, ${timestamptz(now)}, ${rates.length})
          RETURNING id`
        const id = made?.id ?? 0
        yield* rows.insert(id, rates)
        const line = Audit.line({
          tenantId: null,
          at: now,
          seed: entropy.hex(16),
          actor: yield* Audit.operator,
          action: "costs.imported",
          resourceType: "cost_deck",
          resourceId: String(id),
          changes: [
            { field: "trunk", from: null, to: trunk },
            { field: "effective_at", from: null, to: Timestamp.format(from) },
            ...changed
          ]
        })
        yield* journal.commitWithin({ ...empty, audit: [line] })
      }).pipe(transaction)
    }),
    /** The costs of calls that ended between two moments. */
    between: Effect.fnUntraced(function* (from: number, to: number): Effect.fn.Return<Tariff.Tariff> {
      const needed = neededOf(yield* decks, from - longestCallMs, to)
      const steps = yield* Effect.forEach(needed, ({ id }) =>
        Effect.flatMap(ratesOf(id), (rates) =>
          Effect.forEach(["outbound", "inbound"] as const, (direction) =>
            Effect.map(
              TimeSlices.run(() => PrefixSteps.of(rates, direction)),
              (steps) => ({ deck: id, direction, ...steps })
            )
          )
        )
      )
      const routes = yield* all<{
        readonly id: string
        readonly host: string
      }>`SELECT id, host FROM route WHERE host IS NOT NULL`
      // The decks of a route still hold after the route was removed.
      const hosts = new Map<string, string | null>(needed.map(({ trunk }) => [trunk, null]))
      for (const { host, id } of routes) hosts.set(id, host)
      return {
        decks: steps.flat(),
        spans: [...hosts].flatMap(([route, host]) => Tariff.spansOf(route, host, needed))
      }
    })
  } as const
})

/** The decks that hold at some time between two moments. */
const neededOf = <D extends Pick<CostDeck, "trunk" | "effectiveAt">>(
  decks: ReadonlyArray<D>,
  from: number,
  to: number
): ReadonlyArray<D> =>
  [...Map.groupBy(decks, ({ trunk }) => trunk).values()].flatMap((own) => {
    const first = RateDecks.holding(own, from)
    return own.slice(first === null ? 0 : own.indexOf(first)).filter(({ effectiveAt }) => effectiveAt < to)
  })
