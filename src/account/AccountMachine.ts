import { HashMap, Option } from "effect"
import { accepted, type Machine, type Outcome, rejected, type StepContext, unchanged } from "../actor/Machine.ts"
import * as Tell from "../actor/Tell.ts"
import { ApiError } from "../domain/ApiError.ts"
import type { Code } from "../domain/ErrorCatalogue.ts"
import type { EntityId, TenantId } from "../domain/Id.ts"
import * as Money from "../domain/Money.ts"

/**
 * The account of a tenant: status and quota (journaled), and the tally of what is going on (read from the rows, kept in
 * memory). It admits one request at a time, in the order of checks of `refusal`.
 *
 * An admitted call is its own reservation: it stands in `tally.live` under its id until it has ended. A tell about a
 * call that is not there is late: the tally was read from rows that had it already, or the call told it twice.
 */
export const machineVersion = 1
export const stateVersion = 1

export type TenantStatus = "active" | "suspended" | "closed"
export type SuspensionReason = "email_unverified" | "operator" | "fraud_review"

export interface Quota {
  /** Null: no cap. */
  readonly dailySpendCapCents: number | null
  readonly monthlySpendCapCents: number | null
  readonly concurrentCallLimit: number
  readonly allowCallerIdForwarding: boolean
  /** Webhook subscriptions that the tenant may have. */
  readonly webhookSubscriptionLimit: number
}

/** What a new tenant gets, guide/money.md#quota. */
export const defaultQuota: Quota = {
  dailySpendCapCents: 10_000,
  monthlySpendCapCents: 100_000,
  concurrentCallLimit: 10,
  allowCallerIdForwarding: false,
  webhookSubscriptionLimit: 50
}

/** What the journal keeps. */
export interface Settings {
  readonly tenantId: TenantId
  readonly status: TenantStatus
  readonly suspensionReason: SuspensionReason | null
  readonly quota: Quota
  /** Inputs committed so far. */
  readonly seq: number
}

/** What lives, and what it reserves: the price of its next minutes. */
export interface Live {
  readonly direction: "inbound" | "outbound"
  readonly reservedCents: number
  /** The number of the last tell that was heard of it. */
  readonly heard: number
}

/** What a live entity tells its account, after the commit that says so. */
export interface Told extends Tell.Tell<{ readonly type: "ended"; readonly chargedCents: number }> {
  readonly from: EntityId
}

/** What the rows say, and what has happened since. Days and months are UTC. */
export interface Tally {
  readonly balanceCents: number
  readonly creditLimitCents: number
  readonly day: string
  readonly daySpentCents: number
  readonly monthSpentCents: number
  /** Non-terminal calls of both directions, by id. */
  readonly live: HashMap.HashMap<EntityId, Live>
}

export interface AccountState {
  readonly settings: Settings
  readonly tally: Tally
}

export type AccountInput =
  | { readonly type: "admit"; readonly id: EntityId; readonly live: Live }
  /** What was admitted never came to life. */
  | { readonly type: "abandoned"; readonly id: EntityId }
  | ({ readonly type: "told" } & Told)
  | { readonly type: "quota_set"; readonly quota: Partial<Quota> }
  | { readonly type: "suspended"; readonly reason: SuspensionReason }
  | { readonly type: "reactivated"; readonly ifReason: SuspensionReason | null }
  | { readonly type: "closed" }

/** Only a change of the settings is written. */
export interface Effects {
  readonly durable: boolean
}

const inMemory: Effects = { durable: false }
const written: Effects = { durable: true }

export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

/** Each UTC day starts with nothing spent, and so does each month. */
export const rolled = (tally: Tally, now: number): Tally => {
  const day = dayOf(now)
  if (day === tally.day) return tally
  const sameMonth = day.slice(0, 7) === tally.day.slice(0, 7)
  return { ...tally, day, daySpentCents: 0, monthSpentCents: sameMonth ? tally.monthSpentCents : 0 }
}

export const liveCalls = (tally: Tally): number => HashMap.size(tally.live)

/** Money and caps, guide/calls.md#order-of-checks; null: the call may go. */
const refusal = ({ settings, tally }: AccountState): Code | null => {
  const { quota } = settings
  if (tally.balanceCents + tally.creditLimitCents <= 0) return "balance_insufficient"
  if (quota.dailySpendCapCents !== null && tally.daySpentCents >= quota.dailySpendCapCents)
    return "daily_spend_cap_exceeded"
  if (quota.monthlySpendCapCents !== null && tally.monthSpentCents >= quota.monthlySpendCapCents)
    return "monthly_spend_cap_exceeded"
  if (liveCalls(tally) >= quota.concurrentCallLimit) return "concurrent_call_cap_exceeded"
  return null
}

const messages: Partial<Record<Code, string>> = {
  balance_insufficient: "the balance does not allow outbound calls; top up and use a new Idempotency-Key",
  daily_spend_cap_exceeded: "the daily spend cap is reached; it resets at midnight UTC",
  monthly_spend_cap_exceeded: "the monthly spend cap is reached; it resets on the first of the month, UTC",
  concurrent_call_cap_exceeded: "the limit of concurrent calls is reached",
  tenant_suspended: "the tenant is suspended"
}

const refuse = (code: Code) => rejected(ApiError.of(code, messages[code] ?? code))

export const step = (
  state: AccountState | null,
  input: AccountInput,
  context: StepContext
): Outcome<AccountState, Effects> => {
  if (state === null) return unchanged
  const { settings } = state
  const tally = rolled(state.tally, context.now)
  const withTally = (fields: Partial<Tally>) => accepted({ settings, tally: { ...tally, ...fields } }, inMemory)
  const withSettings = (fields: Partial<Settings>) =>
    accepted({ settings: { ...settings, ...fields, seq: settings.seq + 1 }, tally }, written)
  switch (input.type) {
    case "admit": {
      if (settings.status !== "active") return refuse("tenant_suspended")
      // Only outbound calls are capped, when they are created.
      const code = input.live.direction === "outbound" ? refusal({ settings, tally }) : null
      return code === null ? withTally({ live: HashMap.set(tally.live, input.id, input.live) }) : refuse(code)
    }
    case "abandoned":
      return HashMap.has(tally.live, input.id) ? withTally({ live: HashMap.remove(tally.live, input.id) }) : unchanged
    case "told": {
      const { body, from, n } = input
      const sender = Option.getOrNull(HashMap.get(tally.live, from))
      if (sender === null || Tell.hear(sender.heard, n) === "repeated") return unchanged
      // A tell before this one was lost with a message that died. The rows know what it said: the actor reads them
      // again.
      if (Tell.hear(sender.heard, n) === "early") throw new Error(`the account missed what ${from} told before ${n}`)
      return withTally({
        live: HashMap.remove(tally.live, from),
        balanceCents: tally.balanceCents - body.chargedCents,
        daySpentCents: tally.daySpentCents + body.chargedCents,
        monthSpentCents: tally.monthSpentCents + body.chargedCents
      })
    }
    case "quota_set":
      return withSettings({ quota: { ...settings.quota, ...input.quota } })
    case "suspended":
      return settings.status === "active"
        ? withSettings({ status: "suspended", suspensionReason: input.reason })
        : unchanged
    case "reactivated":
      return settings.status === "suspended" &&
        (input.ifReason === null || input.ifReason === settings.suspensionReason)
        ? withSettings({ status: "active", suspensionReason: null })
        : unchanged
    case "closed":
      return settings.status === "closed" ? unchanged : withSettings({ status: "closed", suspensionReason: null })
  }
}

/** An account lives as long as its registry keeps it. It has no deadlines, and no terminal state to settle in. */
export const machine: Machine<AccountState, AccountInput, Effects> = {
  step,
  nextDeadline: () => null,
  isSettled: () => false
}

/** The first settings of a tenant, seq 1. */
export const opened = (tenantId: TenantId): Settings => ({
  tenantId,
  status: "active",
  suspensionReason: null,
  quota: defaultQuota,
  seq: 1
})

/**
 * What ends an answered call from our side, guide/money.md#the-longest-a-call-can-last. The affordable time is at least
 * one started minute: admission asks for a balance above zero, not for the price of a minute.
 */
export const callLimit = (options: {
  readonly timeLimitSecs: number | null
  readonly fundsCents: number
  readonly microUsdPerMinute: number
  readonly maxCallSecs: number
}): { readonly afterSecs: number; readonly reason: "time_limit" | "balance_exhausted" } => {
  const asked = Math.min(options.timeLimitSecs ?? options.maxCallSecs, options.maxCallSecs)
  const affordable = Money.affordableSecs(options.fundsCents, options.microUsdPerMinute)
  return affordable !== null && Math.max(60, affordable) < asked
    ? { afterSecs: Math.max(60, affordable), reason: "balance_exhausted" }
    : { afterSecs: asked, reason: "time_limit" }
}
