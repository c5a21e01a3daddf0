import { Cause, Clock, Context, Effect, FiberMap, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import * as Actor from "../actor/Actor.ts"
import * as Id from "../domain/Id.ts"
import { Rejected } from "../domain/Rejected.ts"
import { type AuditRow, type Commit, empty, type EntityWrite, Journal } from "../store/Journal.ts"
import * as Outage from "../store/Outage.ts"
import * as Machine from "./AccountMachine.ts"
import * as AccountRepo from "./AccountRepo.ts"

export { callLimit } from "./AccountMachine.ts"
export { DestinationRules, type Rule, type RuleKind } from "./DestinationRules.ts"

/**
 * Accounts: admission of calls, status and quota of a tenant (spec §2.7, §7, §8).
 *
 * Each account is one fiber, started when it is first needed; it reads its tally from the rows then. Money that moves
 * outside calls (orders, credits) is told with `moneyMoved`, after its transaction.
 */
export interface Admitted {
  /** Balance plus credit limit at admission, for the affordable time (decision D6). */
  readonly fundsCents: number
}

export interface Overview {
  readonly status: Machine.TenantStatus
  readonly suspensionReason: Machine.SuspensionReason | null
  readonly quota: Machine.Quota
  readonly tally: Machine.Tally
}

export interface Operator {
  readonly type: "operator" | "system"
  readonly name: string
}

export class Accounts extends Context.Service<
  Accounts,
  {
    /** Fails with the refusals of spec §7; an admitted call must be told `callEnded` once, or `abandoned`. */
    readonly admitOutbound: (tenantId: string) => Effect.Effect<Admitted, Rejected>
    readonly admitInbound: (tenantId: string) => Effect.Effect<Admitted, Rejected>
    readonly callEnded: (
      tenantId: string,
      charged: { readonly cents: number; readonly balanceCents: number | null }
    ) => Effect.Effect<void>
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
      const surroundings = yield* Actor.surroundings(Effect.map(journal.unavailableForMs, (ms) => ms > 0))
      const fibers = yield* FiberMap.make<string>()
      const repo = AccountRepo.make(sql)
      const listeners: Array<(tenantId: string, status: Machine.TenantStatus) => void> = []
      type Account = Actor.Actor<Machine.AccountState, Machine.AccountInput, Operator | null, Machine.AccountState>
      const live = new Map<string, Account>()
      const ended = Rejected.of("service_unavailable", "the service is stopping")
      /** Changes that no account was there to hear of, counted by tenant: who was reading the rows meanwhile reads again. */
      const untold = new Map<string, number>()

      const tell = (tenantId: string, input: Effect.Effect<Machine.AccountInput | null>): Effect.Effect<void> =>
        Effect.suspend(() => {
          const known = live.get(tenantId)
          if (known !== undefined)
            return Effect.flatMap(input, (told) => (told === null ? Effect.void : known.tell(told)))
          untold.set(tenantId, (untold.get(tenantId) ?? 0) + 1)
          return Effect.void
        })

      const write = Effect.fnUntraced(function* (
        step: Actor.Step<Machine.AccountState, Machine.AccountInput, Machine.Effects>,
        by: Operator | null
      ) {
        if (!step.effects.durable) return step.state
        const { settings } = step.state
        const before = step.before?.settings ?? settings
        const commit: Commit = {
          ...empty,
          entities: [entityOf(settings, step.context.now, step.context.seed, step.input)],
          audit: auditOf(before, settings, step, by)
        }
        // The tenant's row mirrors the status for those who read it by itself; both change together.
        yield* sql
          .withTransaction(Effect.andThen(repo.mirrorStatus(settings, step.context.now), journal.commitWithin(commit)))
          .pipe(Effect.catchCause(unavailableOrDie))
        if (before.status !== settings.status) for (const told of listeners) told(settings.tenantId, settings.status)
        return step.state
      })

      const spawn = Effect.fnUntraced(function* (tenantId: string, initial: Machine.AccountState) {
        const account: Account = yield* Actor.make<
          Machine.AccountState,
          Machine.AccountInput,
          Machine.Effects,
          Operator | null,
          Machine.AccountState
        >({
          id: tenantId,
          initial,
          since: 0,
          surroundings,
          ended,
          askRoom,
          behavior: {
            machine: Machine.machine,
            commit: write,
            interpret: () => Effect.void,
            answer: (state) => state,
            reload: repo.load(tenantId, dayNow),
            recovered: (state) => Effect.succeed({ type: "money_read", ...state.tally }),
            // The next one who needs the account reads it again.
            lastWill: null
          }
        })
        live.set(tenantId, account)
        untold.delete(tenantId)
        yield* FiberMap.run(
          fibers,
          tenantId,
          Effect.ensuring(
            account.run,
            Effect.sync(() => live.delete(tenantId))
          )
        )
        return account
      }, Effect.uninterruptible)

      const account = Effect.fnUntraced(function* (tenantId: string) {
        const known = live.get(tenantId)
        if (known !== undefined) return known
        let loaded: Machine.AccountState | null
        let before: number | undefined
        do {
          before = untold.get(tenantId)
          loaded = yield* repo.load(tenantId, dayNow)
        } while (untold.get(tenantId) !== before && !live.has(tenantId))
        // Another fiber may have loaded it meanwhile: there is one actor for an account.
        const meanwhile = live.get(tenantId)
        if (meanwhile !== undefined) return meanwhile
        if (loaded === null) return yield* Rejected.of("not_found", "no such tenant")
        return yield* spawn(tenantId, loaded)
      })

      const ask = (tenantId: string, input: Machine.AccountInput, by: Operator | null = null) =>
        Effect.flatMap(account(tenantId), (found) => found.ask(input, by))

      const admit = (tenantId: string, type: "admit_outbound" | "admit_inbound") =>
        Effect.map(ask(tenantId, { type }), ({ tally }): Admitted => ({
          fundsCents: tally.balanceCents + tally.creditLimitCents
        }))

      return Accounts.of({
        admitOutbound: (tenantId) => admit(tenantId, "admit_outbound"),
        admitInbound: (tenantId) => admit(tenantId, "admit_inbound"),
        callEnded: (tenantId, { balanceCents, cents }) =>
          tell(tenantId, Effect.succeed({ type: "call_ended", chargedCents: cents, balanceCents })),
        moneyMoved: (tenantId) =>
          tell(
            tenantId,
            Effect.map(
              Effect.flatMap(dayNow, (day) => repo.money(tenantId, day)),
              (money) => (money === null ? null : { type: "money_read", ...money })
            )
          ),
        overview: Effect.fnUntraced(function* (tenantId) {
          const state = (yield* account(tenantId)).state()
          if (state === null) return yield* Effect.die(new Error(`account ${tenantId} has no state`))
          return { ...state.settings, tally: Machine.rolled(state.tally, yield* Clock.currentTimeMillis) }
        }),
        setQuota: (tenantId, quota, by) => Effect.asVoid(ask(tenantId, { type: "quota_set", quota }, by)),
        suspend: (tenantId, reason, by) => Effect.asVoid(ask(tenantId, { type: "suspended", reason }, by)),
        reactivate: (tenantId, ifReason, by) => Effect.asVoid(ask(tenantId, { type: "reactivated", ifReason }, by)),
        close: (tenantId, by) => Effect.asVoid(ask(tenantId, { type: "closed" }, by)),
        opening: (tenantId, at, seed) => entityOf(Machine.opened(tenantId), at, seed, { type: "opened" }),
        onStatus: (listener) => void listeners.push(listener)
      })
    })
  )
}

/** An admission takes microseconds and waits for nothing: a burst of a tenant's requests is no reason for a 503. */
const askRoom = 1_024

/** While the database is away nothing was written, and the account goes on with what it has. */
const unavailableOrDie = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return error instanceof SqlError && Outage.is(error)
    ? Effect.fail(Rejected.of("service_unavailable", "the service cannot store anything right now; try again"))
    : Effect.die(error)
}

const dayNow = Effect.map(Clock.currentTimeMillis, Machine.dayOf)

const entityOf = (settings: Machine.Settings, at: number, seed: string, body: unknown): EntityWrite => ({
  id: settings.tenantId,
  kind: "account",
  tenantId: settings.tenantId,
  seq: settings.seq,
  // An account is loaded when it is needed, never rebuilt at start.
  settled: true,
  stateVersion: Machine.stateVersion,
  state: settings,
  input: { at, seed, machineVersion: Machine.machineVersion, body }
})

const actions: Partial<Record<Machine.AccountInput["type"], string>> = {
  quota_set: "quota.updated",
  suspended: "tenant.suspended",
  reactivated: "tenant.reactivated",
  closed: "tenant.closed"
}

const auditOf = (
  before: Machine.Settings,
  after: Machine.Settings,
  step: Actor.Step<Machine.AccountState, Machine.AccountInput, Machine.Effects>,
  by: Operator | null
): ReadonlyArray<AuditRow> => {
  const flat = (settings: Machine.Settings) => ({
    status: settings.status,
    suspension_reason: settings.suspensionReason,
    daily_spend_cap_cents: settings.quota.dailySpendCapCents,
    monthly_spend_cap_cents: settings.quota.monthlySpendCapCents,
    concurrent_call_limit: settings.quota.concurrentCallLimit,
    allow_caller_id_forwarding: settings.quota.allowCallerIdForwarding
  })
  const from = flat(before)
  const to = flat(after)
  const changes = (Object.keys(to) as ReadonlyArray<keyof typeof to>)
    .filter((field) => from[field] !== to[field])
    .map((field) => ({ field, from: from[field], to: to[field] }))
  return [
    {
      id: Id.deriveUuid(step.context.seed, "audit"),
      tenantId: after.tenantId,
      at: step.context.now,
      actor: { type: by?.type ?? "system", id: null, name: by?.name ?? null },
      action: actions[step.input.type] ?? step.input.type,
      resourceType: "tenant",
      resourceId: after.tenantId,
      changes,
      ip: null
    }
  ]
}
