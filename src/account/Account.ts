import { Cause, Clock, Context, Effect, FiberSet, HashMap, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import type { Behavior, Step } from "../actor/Actor.ts"
import * as Registry from "../actor/Registry.ts"
import { Rejected } from "../domain/Rejected.ts"
import { type Commit, empty, type EntityWrite, Journal, type StoredEntity } from "../store/Journal.ts"
import * as Outage from "../store/Outage.ts"
import * as Machine from "./AccountMachine.ts"
import { auditOf, entityOf, type Operator } from "./AccountRecord.ts"
import * as AccountRepo from "./AccountRepo.ts"
import * as InFlight from "./InFlight.ts"

export { callLimit, type Live } from "./AccountMachine.ts"
export type { Operator } from "./AccountRecord.ts"
export { DestinationRules, type Rule, type RuleKind } from "./DestinationRules.ts"

/**
 * Accounts: admission of calls, status and quota of a tenant, guide/money.md.
 *
 * Each account is one actor, loaded when it is first needed, and gone from memory when nothing of its tenant lives and
 * nobody asked for a while; it reads its tally from the rows. Money that moves outside calls (orders, credits) is told
 * with `moneyMoved`, after its transaction.
 */
export interface Admitted {
  /** Where the tenant lives, and what is admitted with it. */
  readonly partition: number
  /** Balance plus credit limit at admission, for the affordable time. */
  readonly fundsCents: number
}

export interface Overview extends Machine.Settings {
  readonly tally: Omit<Machine.Tally, "live"> & { readonly liveCalls: number }
}

/** What an unsettled entity of a tenant reserves, as its stored state says; null: nothing (it has ended). */
export type Reserving = (row: Pick<StoredEntity, "state" | "stateVersion">) => Machine.Live | null

export class Accounts extends Context.Service<
  Accounts,
  {
    /**
     * Fails with the refusals of guide/calls.md#order-of-checks. What was admitted is in flight from here on, until
     * `began` or `abandoned` is told of it; then, until `ended`.
     */
    readonly admit: (tenantId: string, id: string, live: Machine.Live) => Effect.Effect<Admitted, Rejected>
    /** Its first commit is written: from here on its row speaks for it. */
    readonly began: (tenantId: string, id: string) => Effect.Effect<void>
    /** What was admitted never came to be: it gives its place back. */
    readonly abandoned: (tenantId: string, id: string) => Effect.Effect<void>
    /** Told after the commit of the end; waits for nothing. Told again it changes nothing. */
    readonly ended: (tenantId: string, id: string, chargedCents: number) => Effect.Effect<void>
    /** How the states of a kind of entity are read for what they reserve; a kind that nobody speaks for reserves nothing. */
    readonly reserving: (kind: EntityWrite["kind"], reader: Reserving) => Effect.Effect<void>
    /** Reads balance and spend again. */
    readonly moneyMoved: (tenantId: string) => Effect.Effect<void>
    readonly overview: (tenantId: string) => Effect.Effect<Overview, Rejected>
    readonly setQuota: (tenantId: string, quota: Partial<Machine.Quota>, by: Operator) => Effect.Effect<void, Rejected>
    readonly suspend: (
      tenantId: string,
      reason: Machine.SuspensionReason,
      by: Operator
    ) => Effect.Effect<void, Rejected>
    /** `ifReason`: only a suspension of that kind is lifted. */
    readonly reactivate: (
      tenantId: string,
      ifReason: Machine.SuspensionReason | null,
      by: Operator
    ) => Effect.Effect<void, Rejected>
    readonly close: (tenantId: string, by: Operator) => Effect.Effect<void, Rejected>
    /** The account entity's first commit, for the transaction of a signup. */
    readonly opening: (tenantId: string, at: number, seed: string) => EntityWrite
    /** Told after each change of status. One listener each; they must not fail. */
    readonly onStatus: (listener: (tenantId: string, status: Machine.TenantStatus) => void) => void
  }
>()("trunkline/account/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const repo = AccountRepo.make(sql)
      const listeners: Array<(tenantId: string, status: Machine.TenantStatus) => void> = []
      const readers = new Map<string, Reserving>()
      const inFlight = InFlight.make()

      const write = Effect.fnUntraced(function* (
        step: Step<Machine.AccountState, Machine.AccountInput, Machine.Effects>,
        by: Operator | null
      ) {
        const { context, input, state } = step
        const { settings } = state
        if (input.type === "admit") inFlight.add(settings.tenantId, input.id, input.live)
        if (!step.effects.durable) return state
        const before = step.before?.settings ?? settings
        const commit: Commit = {
          ...empty,
          entities: [entityOf(settings, context.now, context.seed, input)],
          audit: auditOf(before, settings, step, by)
        }
        // The tenant's row mirrors the status for those who read it by itself; both change together.
        yield* sql
          .withTransaction(Effect.andThen(repo.mirrorStatus(settings, context.now), journal.commitWithin(commit)))
          .pipe(Effect.catchCause(unavailableOrDie))
        if (before.status !== settings.status) for (const told of listeners) told(settings.tenantId, settings.status)
        return state
      })

      /** What the rows say, and what was admitted before they were read and is in none of them. */
      const load = Effect.fnUntraced(function* (tenantId: string) {
        const admitted = inFlight.of(tenantId)
        const day = Machine.dayOf(yield* Clock.currentTimeMillis)
        const rows = yield* Effect.catchCause(repo.read(tenantId, day, admitted.keys()), unavailableOrDie)
        if (rows === null) return null
        const live = [
          ...[...admitted].filter(([id]) => !rows.born.has(id)),
          ...rows.unsettled.flatMap((row) => {
            const reserved = readers.get(row.kind)?.(row) ?? null
            return reserved === null ? [] : [[row.id, reserved] as const]
          })
        ]
        const state: Machine.AccountState = {
          settings: rows.settings,
          tally: { ...rows.money, day, live: HashMap.fromIterable(live) }
        }
        return { partition: rows.partition, state }
      })

      const behavior: Behavior<
        Machine.AccountState,
        Machine.AccountInput,
        Machine.Effects,
        Operator | null,
        Machine.AccountState
      > = {
        machine: Machine.machine,
        commit: write,
        interpret: () => Effect.void,
        answer: (state) => state,
        reload: (tenantId) => Effect.orDie(Effect.map(load(tenantId), (loaded) => loaded?.state ?? null)),
        recovered: null,
        // The next one who needs the account reads it again.
        lastWill: null
      }
      const registry = yield* Registry.make(
        {
          behavior,
          since: () => 0,
          // Days and months are the calendar's; nothing here is measured.
          offsetMs: null,
          load,
          ended: Rejected.of("service_unavailable", "the service is stopping"),
          unknown: Rejected.of("not_found", "no such tenant"),
          askRoom,
          maxLive,
          passivation: { afterMs: idleMs, mayLeave: ({ tally }) => Machine.liveCalls(tally) === 0 }
        },
        Effect.map(journal.unavailableForMs, (ms) => ms > 0)
      )
      for (const partition of journal.partitions()) yield* registry.hold(partition, journal.originMs(partition))
      const fork = yield* FiberSet.makeRuntime()
      yield* journal.onPartitionLost((partition) => void fork(registry.drop(partition)))

      const change = (tenantId: string, input: Machine.AccountInput, by: Operator | null) =>
        Effect.asVoid(registry.ask(tenantId, input, by))

      const abandoned = (tenantId: string, id: string) =>
        Effect.sync(() => {
          inFlight.remove(tenantId, id)
          registry.post(tenantId, { type: "abandoned", id })
        })

      return Accounts.of({
        admit: (tenantId, id, live) =>
          registry.ask(tenantId, { type: "admit", id, live }, null).pipe(
            Effect.flatMap(({ tally }) =>
              Effect.map(registry.get(tenantId), ({ place }) => ({
                partition: place.partition,
                fundsCents: tally.balanceCents + tally.creditLimitCents
              }))
            ),
            // Who was told 503 while the account decided was admitted all the same.
            Effect.tapError((refused) =>
              refused.code === "service_unavailable" ? abandoned(tenantId, id) : Effect.void
            )
          ),
        began: (tenantId, id) => Effect.sync(() => inFlight.remove(tenantId, id)),
        abandoned,
        ended: (tenantId, id, chargedCents) =>
          Effect.sync(() => registry.post(tenantId, { type: "call_ended", id, chargedCents })),
        reserving: (kind, reader) => Effect.sync(() => void readers.set(kind, reader)),
        moneyMoved: registry.reread,
        overview: Effect.fnUntraced(function* (tenantId) {
          const state = (yield* registry.get(tenantId)).state()
          if (state === null) return yield* Effect.die(new Error(`account ${tenantId} has no state`))
          const { live, ...tally } = Machine.rolled(state.tally, yield* Clock.currentTimeMillis)
          return { ...state.settings, tally: { ...tally, liveCalls: HashMap.size(live) } }
        }),
        setQuota: (tenantId, quota, by) => change(tenantId, { type: "quota_set", quota }, by),
        suspend: (tenantId, reason, by) => change(tenantId, { type: "suspended", reason }, by),
        reactivate: (tenantId, ifReason, by) => change(tenantId, { type: "reactivated", ifReason }, by),
        close: (tenantId, by) => change(tenantId, { type: "closed" }, by),
        opening: (tenantId, at, seed) => entityOf(Machine.opened(tenantId), at, seed, { type: "opened" }),
        onStatus: (listener) => void listeners.push(listener)
      })
    })
  )
}

/** An admission takes microseconds and waits for nothing: a burst of a tenant's requests is no reason for a 503. */
const askRoom = 1_024

const maxLive = 100_000

const idleMs = 300_000

/** While the database is away nothing was written, and the account goes on with what it has. */
const unavailableOrDie = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return error instanceof SqlError && Outage.is(error)
    ? Effect.fail(Rejected.of("service_unavailable", "the service cannot store anything right now; try again"))
    : Effect.die(error)
}
