import type { Step } from "../../runtime/actor/Behavior.ts"
import * as Id from "../../domain/Id.ts"
import type { AuditRow, EntityWrite } from "../../runtime/store/journal/Journal.ts"
import * as Machine from "./AccountMachine.ts"

/** The author of a change to an account's settings. */
export interface Operator {
  readonly type: "operator" | "system"
  /** Null: the operator's command came without a name. */
  readonly name: string | null
}

/** The settings as a journal entity. */
export const entityOf = (settings: Machine.Settings, at: number, seed: string, body: unknown): EntityWrite => ({
  id: settings.tenantId,
  kind: "account",
  tenantId: settings.tenantId,
  seq: settings.seq,
  // An account is loaded when it is needed, and never rebuilt at the start.
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

/** The change in the audit log, field by field. */
export const auditOf = (
  before: Machine.Settings,
  after: Machine.Settings,
  step: Step<Machine.AccountState, Machine.AccountInput, Machine.Effects>,
  by: Operator | null
): ReadonlyArray<AuditRow> => {
  const flat = (settings: Machine.Settings) => ({
    status: settings.status,
    suspension_reason: settings.suspensionReason,
    daily_spend_cap_cents: settings.quota.dailySpendCapCents,
    monthly_spend_cap_cents: settings.quota.monthlySpendCapCents,
    concurrent_call_limit: settings.quota.concurrentCallLimit,
    allow_caller_id_forwarding: settings.quota.allowCallerIdForwarding,
    webhook_subscription_limit: settings.quota.webhookSubscriptionLimit
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
