import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Timestamp from "../../domain/time/Timestamp.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type * as Increments from "../../domain/price/Increments.ts"
import * as RateDeck from "./RateDeck.ts"
import * as RateRows from "./RateRows.ts"

/** A deck, in effect from `effectiveAt` on (epoch milliseconds). A later deck for the same moment replaces it. */
export interface Dated {
  readonly id: number
  readonly effectiveAt: number
  readonly importedAt: number
  readonly rows: number
}

/** The deck that is in effect at a moment. `decks` are in the order in which they take effect. */
export const holding = <D extends Pick<Dated, "effectiveAt">>(decks: ReadonlyArray<D>, at: number): D | null =>
  decks.findLast(({ effectiveAt }) => effectiveAt <= at) ?? null

/** Sorts decks by the moment at which they take effect; for one moment, the later deck comes last. */
const inOrder = (one: Dated, other: Dated): number => one.effectiveAt - other.effectiveAt || one.id - other.id

/** The deck that is in effect, and the scheduled ones. */
const fromNow = <D extends Dated>(decks: ReadonlyArray<D>, now: number): ReadonlyArray<D> => {
  const current = holding(decks, now)
  return current === null ? decks : decks.slice(decks.indexOf(current))
}

const unpriced = ApiError.of("country_not_allowed", "calls to that destination have no price", "to")

/**
 * The rate decks, guide/money.md#rates. The current deck and the scheduled ones are in memory, so that each takes
 * effect at its moment by itself. Earlier ones stay in the database. Memory changes with each commit, without another
 * read, which could fail or be overtaken by another change.
 */
export const make = Effect.gen(function* () {
  const { all, sql, transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy

  const every = all<Dated>`SELECT id, effective_at, imported_at, rows FROM rate_deck ORDER BY effective_at, id`
  const rows = RateRows.of(sql, "rate")
  const ratesOf = rows.read

  type Loaded = Dated & { readonly deck: RateDeck.RateDeck }
  let decks: ReadonlyArray<Loaded> = yield* Effect.forEach(
    fromNow(yield* every, yield* Clock.currentTimeMillis),
    (each) => Effect.map(ratesOf(each.id), (rates) => ({ ...each, deck: RateDeck.make(rates) }))
  )

  const ratesAt = (at: number) =>
    Effect.flatMap(every, (dated) => {
      const deck = holding(dated, at)
      return deck === null ? Effect.succeed([]) : ratesOf(deck.id)
    })

  /** The deck that is in effect at `at`, and how `rates` differ from it. */
  const changes = (rates: ReadonlyArray<RateDeck.Rate>, at: number) =>
    Effect.map(ratesAt(at), (before) => ({ before, changed: RateDeck.difference(before, rates) }))

  /** Fails with the fault of a deck or of its moment. Null: it takes effect at once. */
  const checked = Effect.fnUntraced(function* (rates: ReadonlyArray<RateDeck.Rate>, effectiveAt: number | null) {
    const now = yield* Clock.currentTimeMillis
    const fault = RateDeck.fault(rates)
    if (fault !== null) return yield* ApiError.of("invalid_request", fault)
    if (effectiveAt !== null && effectiveAt <= now)
      return yield* ApiError.of("invalid_request", "the moment from which the deck is to hold has passed", "effective")
    return { now, from: effectiveAt ?? now }
  })

  const line = (action: string, at: number, id: number, changed: Parameters<typeof Audit.line>[0]["changes"]) =>
    Audit.line({
      tenantId: null,
      at,
      seed: entropy.hex(16),
      actor: Audit.operator,
      action,
      resourceType: "rate_deck",
      resourceId: String(id),
      changes: changed ?? []
    })

  return {
    rate: (direction: RateDeck.Direction, number: string): Effect.Effect<Increments.Price, ApiError> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        // When the clock was set back to before all decks, the first one is in effect.
        const deck = (holding(decks, now) ?? decks[0])?.deck ?? RateDeck.make([])
        const rate = deck.rate(direction, number)
        return rate === null ? Effect.fail(unpriced) : Effect.succeed(rate)
      }),
    rates: Effect.flatMap(Clock.currentTimeMillis, ratesAt),
    ratesOf: Effect.fnUntraced(function* (id: number) {
      if (!(yield* every).some((deck) => deck.id === id))
        return yield* ApiError.of("not_found", "there is no such deck")
      return yield* ratesOf(id)
    }),
    decks: every,
    /** The changes that a deck would make to the one in effect at that moment; nothing is written. */
    difference: Effect.fnUntraced(function* (rates: ReadonlyArray<RateDeck.Rate>, effectiveAt: number | null) {
      const { from } = yield* checked(rates, effectiveAt)
      return (yield* changes(rates, from)).changed
    }),
    set: Effect.fnUntraced(function* (rates: ReadonlyArray<RateDeck.Rate>, effectiveAt: number | null = null) {
      const { from, now } = yield* checked(rates, effectiveAt)
      const { before } = yield* changes(rates, from)
      const id = yield* Effect.gen(function* () {
        const [made] = yield* sql<{ readonly id: number }>`
          INSERT INTO rate_deck (effective_at, imported_at, rows)
          VALUES (${timestamptz(from)}, ${timestamptz(now)}, ${rates.length}) RETURNING id`
        const id = made?.id ?? 0
        yield* rows.insert(id, rates)
        const scheduled =
          effectiveAt === null ? [] : [{ field: "effective_at", from: null, to: Timestamp.format(from) }]
        const audit = [
          line(effectiveAt === null ? "rates.replaced" : "rates.scheduled", now, id, [
            ...scheduled,
            ...RateDeck.changes(before, rates)
          ])
        ]
        yield* journal.commitWithin({ ...empty, audit })
        return id
      }).pipe(transaction)
      const made = { id, effectiveAt: from, importedAt: now, rows: rates.length, deck: RateDeck.make(rates) }
      decks = fromNow([...decks, made].toSorted(inOrder), now)
    }),
    /** Withdraws a deck that is not in effect yet. */
    cancel: Effect.fnUntraced(function* (id: number) {
      const now = yield* Clock.currentTimeMillis
      const deck = (yield* every).find((each) => each.id === id)
      if (deck === undefined) return yield* ApiError.of("not_found", "there is no such deck")
      if (deck.effectiveAt <= now) return yield* ApiError.of("conflict", "the deck holds already; import another")
      yield* Effect.all([
        sql`DELETE FROM rate WHERE deck = ${id}`,
        sql`DELETE FROM rate_deck WHERE id = ${id}`,
        journal.commitWithin({
          ...empty,
          audit: [
            line("rates.cancelled", now, id, [
              { field: "effective_at", from: Timestamp.format(deck.effectiveAt), to: null }
            ])
          ]
        })
      ]).pipe(transaction)
      decks = decks.filter((each) => each.id !== id)
    })
  } as const
})
