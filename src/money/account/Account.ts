import { Context, Effect, FiberSet, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { EntityId, TenantId } from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import { empty, type EntityWrite, Journal } from "../../runtime/store/journal/Journal.ts"
import { Letters } from "../../ports/letter/Letter.ts"
import * as Outage from "../../runtime/store/Outage.ts"
import * as Machine from "./AccountMachine.ts"
import { auditOf, entityOf, type Operator } from "./AccountRecord.ts"
import * as AccountRepo from "./AccountRepo.ts"
import * as Alarms from "./Alarms.ts"
import * as LiveAccounts from "./LiveAccounts.ts"
import * as Lives from "./Lives.ts"
import * as StatusLetter from "./StatusLetter.ts"

export { TestMoneyRefused, type Request, type Told } from "./AccountMachine.ts"
export type { Live } from "./Lives.ts"
export type { Reserving } from "./LiveAccounts.ts"
export type { Operator } from "./AccountRecord.ts"
export { DialingPermissions, type Rule, type RuleKind } from "./DialingPermissions.ts"

/** `quota` is the effective one, with what the plan sets of it. */
export interface Overview extends Machine.Settings {
  readonly tally: Omit<Machine.Tally, "live"> & { readonly liveCalls: number; readonly reservedCents: number }
}

/**
 * Accounts: admission and reservations of calls, status and quota of a tenant, guide/money.md.
 *
 * Each account is one actor. It is loaded when it is first needed, and reads its tally from the rows. It leaves memory
 * when nothing of its tenant is live and it has not been used for a while. Code that moves money outside calls (orders,
 * credits) calls `moneyMoved` after its transaction.
 */
export class Accounts extends Context.Service<
  Accounts,
  {
    /**
     * Reserves money for a purpose, and admits a new call. Fails with the errors of guide/calls.md#order-of-checks. The
     * reservation is in flight from here on, until `began` or `abandoned` is called. After `began` it lasts until the
     * entity that it is for reports its end.
     */
    readonly reserve: (
      tenantId: TenantId,
      id: EntityId,
      request: Machine.Request
    ) => Effect.Effect<LiveAccounts.Reserved, ApiError>
    /** Why `reserve` would refuse the request now; null when it would not. Nothing is reserved. */
    readonly refusal: (
      tenantId: TenantId,
      id: EntityId,
      request: Machine.Request
    ) => Effect.Effect<ApiError | null, ApiError>
    /** The partition of the tenant, for a call that rings and reserves nothing. Fails with `tenant_suspended`. */
    readonly takeIn: (tenantId: TenantId) => Effect.Effect<number, ApiError>
    /** The reservation is committed: from now on the entity's row holds it. */
    readonly began: (tenantId: TenantId, id: EntityId) => Effect.Effect<void>
    /** The entity that the reservation was for never began, so its money and its place are free again. */
    readonly abandoned: (tenantId: TenantId, id: EntityId) => Effect.Effect<void>
    /** The entity holds less from now on than was reserved for it; the rest is free again. It waits for nothing. */
    readonly holds: (
      tenantId: TenantId,
      id: EntityId,
      held: Pick<Lives.Live, "places" | "reservedCents">
    ) => Effect.Effect<void>
    /** The transaction that the reservation was for is over, committed or not: reads money and reservations again. */
    readonly released: (tenantId: TenantId, id: EntityId) => Effect.Effect<void>
    /** Called after the commit that contains it; it waits for nothing. A repeated report changes nothing. */
    readonly told: (tenantId: TenantId, told: Machine.Told) => Effect.Effect<void>
    /** Registers how to read reservations from the states of a kind. An unregistered kind reserves nothing. */
    readonly reserving: (kind: EntityWrite["kind"], reader: LiveAccounts.Reserving) => Effect.Effect<void>
    /** Reads balance and spend again, and notifies the listeners of `onMoneyMoved`. */
    readonly moneyMoved: (tenantId: TenantId) => Effect.Effect<void>
    /** Called after each move of money outside calls. Listeners must not fail. */
    readonly onMoneyMoved: (listener: (tenantId: TenantId) => Effect.Effect<void>) => Effect.Effect<void>
    /** The entities that reserve money or fill the concurrent limit. */
    readonly live: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<EntityId>>
    /** The sum that all accounts in memory reserve. */
    readonly reservedCents: Effect.Effect<number>
    readonly overview: (tenantId: TenantId) => Effect.Effect<Overview, ApiError>
    readonly setQuota: (
      tenantId: TenantId,
      quota: Partial<Machine.Quota>,
      by: Operator
    ) => Effect.Effect<void, ApiError>
    readonly suspend: (
      tenantId: TenantId,
      reason: Machine.SuspensionReason,
      by: Operator
    ) => Effect.Effect<void, ApiError>
    /** With `ifReason`, only a suspension of that kind is lifted. */
    readonly reactivate: (
      tenantId: TenantId,
      ifReason: Machine.SuspensionReason | null,
      by: Operator
    ) => Effect.Effect<void, ApiError>
    readonly close: (tenantId: TenantId, by: Operator) => Effect.Effect<void, ApiError>
    /** The account entity's first commit, for the transaction of a signup. */
    readonly opening: (tenantId: TenantId, at: number, seed: string) => EntityWrite
    /** Called when the balance of an account in memory was read or has changed. Listeners must not fail. */
    readonly onBalance: (listener: (tenantId: TenantId, balanceCents: number) => void) => Effect.Effect<void>
    /** Called after each change of status. Listeners must not fail. */
    readonly onStatus: (listener: (tenantId: TenantId, status: Machine.TenantStatus) => void) => void
  }
>()("trunkline/account/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const letters = yield* Letters
      const repo = yield* AccountRepo.make
      const waitingForMoney: Array<(tenantId: TenantId) => Effect.Effect<void>> = []
      const listeners: Array<(tenantId: TenantId, status: Machine.TenantStatus) => void> = []
      const watchers: Array<(tenantId: TenantId, balanceCents: number) => void> = []

      const write = Effect.fnUntraced(function* (step: LiveAccounts.AccountStep, by: Operator | null) {
        const { context, input, state } = step
        const { settings } = state
        const before = step.before?.settings ?? settings
        const commit = {
          ...empty,
          entities: [entityOf(settings, context.now, context.seed, input)],
          audit: auditOf(before, settings, step, by)
        }
        const letter = StatusLetter.of(before, settings)
        // The tenant's row mirrors the status for readers of only that row, so both change together.
        yield* Effect.gen(function* () {
          yield* repo.mirrorStatus(settings, context.now)
          if (letter !== null)
            yield* letters.postToWithin({
              cause: `tenant_status:${context.seed}`,
              tenantId: settings.tenantId,
              audience: "owners",
              alsoUnverified: true,
              letter
            })
          yield* journal.commitWithin(commit)
        }).pipe(sql.withTransaction, Effect.catchCause(Outage.unavailableOrDie))
        if (before.status !== settings.status) for (const told of listeners) told(settings.tenantId, settings.status)
      })

      const live = yield* LiveAccounts.make({
        read: (tenantId, day, ids) => Effect.catchCause(repo.read(tenantId, day, ids), Outage.unavailableOrDie),
        write,
        onBalance: (tenantId, balanceCents) => {
          for (const told of watchers) told(tenantId, balanceCents)
        },
        partitions: journal.partitions(),
        originMs: journal.originMs,
        outage: Effect.map(journal.unavailableForMs, (ms) => ms > 0)
      })
      yield* Alarms.make(live.states)
      const fork = yield* FiberSet.makeRuntime()
      yield* journal.onPartitionLost((partition) => void fork(live.drop(partition)))
      const { abandoned, began, change, holds, released, reserve, reserving, told } = live

      return Accounts.of({
        reserve,
        refusal: live.refusal,
        takeIn: live.partition,
        began,
        abandoned,
        holds,
        released,
        told,
        reserving,
        moneyMoved: (tenantId) =>
          Effect.andThen(
            live.reread(tenantId),
            Effect.suspend(() => Effect.forEach(waitingForMoney, (told) => told(tenantId), { discard: true }))
          ),
        onMoneyMoved: (listener) => Effect.sync(() => void waitingForMoney.push(listener)),
        // When the tenant cannot be read, nothing of it is known to be live.
        live: (tenantId) =>
          Effect.match(live.state(tenantId), {
            onFailure: () => [],
            onSuccess: ({ tally }) => Lives.ids(tally.live)
          }),
        reservedCents: live.reservedCents,
        overview: (tenantId) =>
          Effect.map(live.state(tenantId), ({ settings, tally: { live, ...tally } }) => ({
            ...settings,
            quota: { ...settings.quota, concurrentCallLimit: Machine.callLimit({ settings, tally }) },
            tally: {
              ...tally,
              liveCalls: live.places,
              reservedCents: live.reservedCents
            }
          })),
        setQuota: (tenantId, quota, by) => change(tenantId, { type: "quota_set", quota }, by),
        suspend: (tenantId, reason, by) => change(tenantId, { type: "suspended", reason }, by),
        reactivate: (tenantId, ifReason, by) => change(tenantId, { type: "reactivated", ifReason }, by),
        close: (tenantId, by) => change(tenantId, { type: "closed" }, by),
        opening: (tenantId, at, seed) => entityOf(Machine.opened(tenantId), at, seed, { type: "opened" }),
        onBalance: (listener) => Effect.sync(() => void watchers.push(listener)),
        onStatus: (listener) => void listeners.push(listener)
      })
    })
  )
}
