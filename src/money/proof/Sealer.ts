import { Effect } from "effect"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ledgerEntry } from "../billing/Billing.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Chain from "./Chain.ts"
import { starting, type ProofRepo, type Seal } from "./ProofRepo.ts"

/** A call that began this long ago has ended, because `MAX_CALL_SECS` is a day at most. */
export const callsSettleMs = 25 * 3_600_000

/** The progress along a chain. */
interface Progress {
  readonly ordinal: string
  readonly at: number
  readonly link: string
  readonly entries: number
  readonly creditsCents: number
  readonly debitsCents: number
}

/** Follows the chain from a place on, to the last entry or to `upTo`. `each` gets every entry. */
export const follow = Effect.fnUntraced(function* (
  repo: Pick<ProofRepo, "entries">,
  tenantId: TenantId,
  from: { readonly ordinal: string; readonly link: string },
  upTo: string | null,
  each: (entry: {
    readonly amountCents: number
    readonly balanceAfterCents: number
    readonly id: string
  }) => void = () => {}
) {
  let progress: Progress = { ...from, at: 0, entries: 0, creditsCents: 0, debitsCents: 0 }
  for (;;) {
    const rows = yield* repo.entries(tenantId, progress.ordinal, upTo)
    const last = rows.at(-1)
    if (last === undefined) return progress
    let { creditsCents, debitsCents, link } = progress
    for (const row of rows) {
      link = Chain.next(link, ledgerEntry(row))
      if (row.amountCents > 0) creditsCents += row.amountCents
      else debitsCents -= row.amountCents
      each(row)
    }
    progress = {
      ordinal: last.place,
      at: last.createdAt,
      link,
      entries: progress.entries + rows.length,
      creditsCents,
      debitsCents
    }
  }
})

/**
 * Seals the entries after the last seals, guide/money.md#proof, and closes the day with a root over all tenants.
 *
 * The lock of a tenant's balance is held from the time when its entry gets its ordinal until that is committed. So a
 * statement sees a prefix of a tenant's ledger, and no entry appears later before a place that a seal has passed. A
 * round that was interrupted continues where it was; a day's root is written when all of the day is sealed.
 */
export const make = Effect.fnUntraced(function* (repo: ProofRepo) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal

  /** Writes the line in the audit log, in the same transaction as the seal or root. */
  const told = (
    at: number,
    of: { readonly tenantId: TenantId | null; readonly resourceId: string; readonly seed: string },
    fields: Readonly<Record<string, string | number>>
  ) =>
    journal.commitWithin({
      ...empty,
      audit: [
        Audit.line({
          ...of,
          at,
          actor: Audit.system,
          action: "ledger.sealed",
          changes: Object.entries(fields).map(([field, to]) => ({ field, from: null, to }))
        })
      ]
    })

  const sealTenant = Effect.fnUntraced(function* (tenantId: TenantId, day: string, now: number) {
    const before = yield* repo.lastSeal(tenantId)
    const link = before?.chainHash ?? Chain.genesis(tenantId)
    const passed = yield* follow(repo, tenantId, { ordinal: before?.throughOrdinal ?? starting, link }, null)
    if (passed.entries === 0) return
    const callsUntil = now - callsSettleMs
    const counted = yield* repo.counting(before, callsUntil)
    const calls = yield* repo.calls(tenantId, counted?.callsUntil ?? null, callsUntil)
    const balanceBeforeCents = before?.balanceCents ?? 0
    const seal: Seal = {
      tenantId,
      number: (before?.number ?? 0) + 1,
      day,
      throughOrdinal: passed.ordinal,
      throughAt: passed.at,
      entries: passed.entries,
      creditsCents: passed.creditsCents,
      debitsCents: passed.debitsCents,
      balanceBeforeCents,
      balanceCents: balanceBeforeCents + passed.creditsCents - passed.debitsCents,
      totalEntries: (before?.totalEntries ?? 0) + passed.entries,
      chainHash: passed.link,
      callsRated: (counted?.callsRated ?? 0) + calls.rated,
      callsDebited: (counted?.callsDebited ?? 0) + calls.debited,
      callsUntil
    }
    const line = { tenantId, resourceId: tenantId, seed: `seal ${tenantId} ${seal.number}` }
    yield* repo
      .insertSeal(seal)
      .pipe(
        Effect.andThen(told(now, line, { total_entries: seal.totalEntries, chain_hash: seal.chainHash })),
        transaction
      )
  })

  const close = Effect.fnUntraced(function* (day: string, now: number) {
    const before = yield* repo.lastRoot
    const seals = yield* repo.sealsOf(day)
    const named = { version: Chain.rootVersion, number: (before?.number ?? 0) + 1, day }
    const rootHash = Chain.root(before?.rootHash ?? Chain.noRoot, named, seals)
    const { number } = named
    const entries = seals.reduce((sum, seal) => sum + seal.entries, 0)
    const line = { tenantId: null, resourceId: day, seed: `root ${number}` }
    const tenantIds = seals.map(({ tenantId }) => tenantId)
    yield* repo
      .insertRoot({ ...named, seals: seals.length, entries, rootHash }, tenantIds, now)
      .pipe(Effect.andThen(told(now, line, { seals: seals.length, entries, root_hash: rootHash })), transaction)
    // A change in the database cannot change the root in the log.
    yield* Effect.logInfo("the ledger is sealed", { day, number, seals: seals.length, entries, rootHash })
  })

  /**
   * Seals once for each UTC day; a second run on the same day does nothing.
   *
   * Seals are ordered by number, and the day is a name. A clock that was days ahead leaves a seal with the name of a
   * future day. After it is set back, each day is sealed under its own name, except days that are sealed already.
   */
  return Effect.fn("Sealer.round")(function* (now: number) {
    const day = new Date(now).toISOString().slice(0, 10)
    for (const open of yield* repo.openDays) if (open !== day) yield* close(open, now)
    if (yield* repo.hasRoot(day)) return
    const last = yield* repo.lastRoot
    if (last !== null && last.day > day)
      yield* Effect.logWarning("the clock is behind the day that was sealed last", { day, lastSealed: last.day })
    for (const tenantId of yield* repo.unsealed(day)) yield* sealTenant(tenantId, day, now)
    if ((yield* repo.openDays).includes(day)) yield* close(day, now)
  })
})
