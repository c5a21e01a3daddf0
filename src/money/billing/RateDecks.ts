import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as TimeSlices from "../../domain/time/TimeSlices.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as Timestamp from "../../domain/time/Timestamp.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type * as Increments from "../../domain/price/Increments.ts"
import * as RateDeck from "./RateDeck.ts"
import * as RateRows from "./RateRows.ts"
import * as RateDiscounts from "./RateDiscounts.ts"

/** A deck, in effect from `effectiveAt` on (epoch milliseconds). A later deck for the same moment replaces it. */
export interface Dated {
  readonly id: number
  readonly effectiveAt: number
  readonly importedAt: number
  readonly rows: number
}

/** A deck of prices, for one tenant or (null) for all. */
interface PriceDeck extends Dated {
  readonly tenantId: TenantId | null
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

/**
 * The most rows of all tenants' own decks together that are current or scheduled, because they are held in memory. The
 * deck for all is not among them.
 */
const mostTenantRows = 500_000

const unpriced = ApiError.of("country_not_allowed", "calls to that destination have no price", "to")

/**
 * The rate decks, guide/money.md#rates. The current deck and the scheduled ones are in memory, so that each takes
 * effect at its moment by itself. Earlier ones stay in the database. Memory changes with each commit, without another
 * read, which could fail or be overtaken by another change.
 *
 * A tenant may have decks of its own. A row of its current one goes before the deck for all, which holds for all other
 * numbers, less the tenant's discount.
 */
export const make = Effect.gen(function* () {
  const { all, sql, transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy

  const discounts = yield* RateDiscounts.make

  const every = all<PriceDeck>`
    SELECT id, tenant_id, effective_at, imported_at, rows FROM rate_deck ORDER BY effective_at, id`
  const decksOf = (tenantId: TenantId | null) =>
    Effect.map(every, (decks) => decks.filter((deck) => deck.tenantId === tenantId))
  const rows = RateRows.of(sql, "rate")
  const deckOf = (rates: ReadonlyArray<RateDeck.Rate>) => TimeSlices.run(() => RateDeck.making(rates))
  const ratesOf = rows.read

  type Loaded = PriceDeck & { readonly deck: RateDeck.RateDeck }
  /** The current and the scheduled decks by the tenant whose they are; null: those for all. */
  const held = new Map<TenantId | null, ReadonlyArray<Loaded>>()
  const startedAt = yield* Clock.currentTimeMillis
  // A closed tenant places no calls.
  const calling = all<PriceDeck>`
    SELECT d.id, d.tenant_id, d.effective_at, d.imported_at, d.rows
    FROM rate_deck d LEFT JOIN tenant t ON t.id = d.tenant_id
    WHERE t.status IS DISTINCT FROM 'closed' ORDER BY d.effective_at, d.id`
  for (const [owner, decks] of Map.groupBy(yield* calling, ({ tenantId }) => tenantId))
    held.set(
      owner,
      yield* Effect.forEach(fromNow(decks, startedAt), (each) =>
        Effect.map(Effect.flatMap(ratesOf(each.id), deckOf), (deck) => ({ ...each, deck }))
      )
    )
  const heldOf = (tenantId: TenantId | null) => held.get(tenantId) ?? []

  const ratesAt = (tenantId: TenantId | null, at: number) =>
    Effect.flatMap(decksOf(tenantId), (dated) => {
      const deck = holding(dated, at)
      return deck === null ? Effect.succeed([]) : ratesOf(deck.id)
    })

  /** The tenant's own price; null: its current deck has no row for the number, or it has no deck. */
  const ownPrice = (tenantId: TenantId, direction: RateDeck.Direction, number: string, now: number) => {
    const decks = heldOf(tenantId)
    // When the clock was set back to before its decks, the first one that was not scheduled is in effect.
    const current = holding(decks, now) ?? decks.find(({ effectiveAt, importedAt }) => effectiveAt <= importedAt)
    return current?.deck.named(direction, number) ?? null
  }

  /** Fails where tenants' own decks would have too many rows with this one. */
  const fits = (tenantId: TenantId | null, rows: number, decks: ReadonlyArray<Dated>) => {
    const others = [...held].flatMap(([owner, own]) => (owner === null || owner === tenantId ? [] : own))
    const sum = [...others, ...decks].reduce((all, deck) => all + deck.rows, rows)
    return tenantId === null || rows === 0 || sum <= mostTenantRows
      ? Effect.void
      : Effect.fail(
          ApiError.of("conflict", `the decks of single tenants would have ${sum} rows together; ${mostTenantRows} fit`)
        )
  }

  /** Fails with the fault of a deck or of its moment. Null: it takes effect at once. */
  const checked = Effect.fnUntraced(function* (rates: ReadonlyArray<RateDeck.Rate>, effectiveAt: number | null) {
    const now = yield* Clock.currentTimeMillis
    const fault = yield* TimeSlices.run(() => RateDeck.fault(rates))
    if (fault !== null) return yield* ApiError.of("invalid_request", fault)
    if (effectiveAt !== null && effectiveAt <= now)
      return yield* ApiError.of("invalid_request", "the moment from which the deck is to hold has passed", "effective")
    return { now, from: effectiveAt ?? now }
  })

  const line = (
    { id, tenantId }: Pick<PriceDeck, "id" | "tenantId">,
    action: string,
    at: number,
    changed: Parameters<typeof Audit.line>[0]["changes"]
  ) =>
    Effect.map(Audit.operator, (actor) =>
      Audit.line({
        tenantId,
        at,
        seed: entropy.hex(16),
        actor,
        action,
        resourceType: "rate_deck",
        resourceId: String(id),
        changes: changed ?? []
      })
    )

  return {
    discounts,
    rate: (
      tenantId: TenantId,
      direction: RateDeck.Direction,
      number: string
    ): Effect.Effect<Increments.Price, ApiError> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const own = ownPrice(tenantId, direction, number, now)
        if (own !== null) return Effect.succeed(own)
        const decks = heldOf(null)
        // When the clock was set back to before all decks, the first one is in effect.
        const deck = (holding(decks, now) ?? decks[0])?.deck ?? RateDeck.make([])
        const price = deck.rate(direction, number)
        return price === null
          ? Effect.fail(unpriced)
          : Effect.succeed(RateDeck.discounted(price, discounts.of(tenantId)))
      }),
    rates: (tenantId: TenantId | null) => Effect.flatMap(Clock.currentTimeMillis, (now) => ratesAt(tenantId, now)),
    ratesOf: Effect.fnUntraced(function* (id: number) {
      if (!(yield* every).some((deck) => deck.id === id))
        return yield* ApiError.of("not_found", "there is no such deck")
      return yield* ratesOf(id)
    }),
    decks: decksOf,
    /** The changes that a deck would make to the one in effect at that moment; nothing is written. */
    difference: Effect.fnUntraced(function* (
      rates: ReadonlyArray<RateDeck.Rate>,
      effectiveAt: number | null,
      tenantId: TenantId | null = null
    ) {
      const { from } = yield* checked(rates, effectiveAt)
      const before = yield* ratesAt(tenantId, from)
      return yield* TimeSlices.run(() => RateDeck.difference(before, rates))
    }),
    set: Effect.fnUntraced(function* (
      rates: ReadonlyArray<RateDeck.Rate>,
      effectiveAt: number | null = null,
      tenantId: TenantId | null = null
    ) {
      const { from, now } = yield* checked(rates, effectiveAt)
      yield* fits(
        tenantId,
        rates.length,
        fromNow(heldOf(tenantId), now).filter((deck) => deck.effectiveAt > from)
      )
      const before = yield* ratesAt(tenantId, from)
      const changed = yield* TimeSlices.run(() => RateDeck.changes(before, rates))
      const deck = yield* deckOf(rates)
      const id = yield* Effect.gen(function* () {
        const [made] = yield* sql<{ readonly id: number }>`
          INSERT INTO rate_deck (tenant_id, effective_at, imported_at, rows)
          VALUES (${tenantId}, ${timestamptz(from)}, ${timestamptz(now)}, ${rates.length}) RETURNING id`
        const id = made?.id ?? 0
        yield* rows.insert(id, rates)
        const scheduled =
          effectiveAt === null ? [] : [{ field: "effective_at", from: null, to: Timestamp.format(from) }]
        const audit = [
          yield* line({ id, tenantId }, effectiveAt === null ? "rates.replaced" : "rates.scheduled", now, [
            ...scheduled,
            ...changed
          ])
        ]
        yield* journal.commitWithin({ ...empty, audit })
        return id
      }).pipe(transaction)
      const loaded = { id, tenantId, effectiveAt: from, importedAt: now, rows: rates.length, deck }
      held.set(tenantId, fromNow([...heldOf(tenantId), loaded].toSorted(inOrder), now))
    }),
    /** Withdraws a deck that is not in effect yet. */
    cancel: Effect.fnUntraced(function* (id: number) {
      const now = yield* Clock.currentTimeMillis
      const deck = (yield* every).find((each) => each.id === id)
      if (deck === undefined) return yield* ApiError.of("not_found", "there is no such deck")
      if (deck.effectiveAt <= now) return yield* ApiError.of("conflict", "the deck holds already; import another")
      const cancelled = yield* line(deck, "rates.cancelled", now, [
        { field: "effective_at", from: Timestamp.format(deck.effectiveAt), to: null }
      ])
      yield* Effect.all([
        sql`DELETE FROM rate WHERE deck = ${id}`,
        sql`DELETE FROM rate_deck WHERE id = ${id}`,
        journal.commitWithin({ ...empty, audit: [cancelled] })
      ]).pipe(transaction)
      held.set(
        deck.tenantId,
        heldOf(deck.tenantId).filter((each) => each.id !== id)
      )
    })
  } as const
})
