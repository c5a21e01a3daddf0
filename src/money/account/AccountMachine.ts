import {
  accepted,
  type Machine,
  type Outcome,
  rejected,
  type StepContext,
  unchanged
} from "../../runtime/actor/Machine.ts"
import * as Tell from "../../runtime/actor/Tell.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { EntityId, TenantId } from "../../domain/Id.ts"
import * as Lives from "./Lives.ts"
import * as Purpose from "./Purpose.ts"

/**
 * The account of a tenant: status and quota (journaled), and the tally of its live entities and money (read from the
 * rows, kept in memory). It decides one request at a time, so that many at once cannot spend together what one of them
 * would use up.
 *
 * Each live entity that may still cost something is a reservation: `tally.live` holds it under its id until it has
 * ended. A message about an entity that is missing there is late: the tally was read from rows that included it
 * already, or the message is a repetition.
 */
export const machineVersion = 1
export const stateVersion = 1

export type TenantStatus = "active" | "suspended" | "closed"
export type SuspensionReason = "email_unverified" | "operator" | "fraud_review"

export interface Quota {
  /** Null when there is no cap. */
  readonly dailySpendCapCents: number | null
  readonly monthlySpendCapCents: number | null
  readonly concurrentCallLimit: number
  readonly allowCallerIdForwarding: boolean
  /** The most webhook subscriptions of the tenant. */
  readonly webhookSubscriptionLimit: number
}

/** The quota of a new tenant, guide/money.md#quota. */
export const defaultQuota: Quota = {
  dailySpendCapCents: 10_000,
  monthlySpendCapCents: 100_000,
  concurrentCallLimit: 10,
  allowCallerIdForwarding: false,
  webhookSubscriptionLimit: 50
}

/** The part of the account that the journal keeps. */
export interface Settings {
  readonly tenantId: TenantId
  readonly status: TenantStatus
  readonly suspensionReason: SuspensionReason | null
  readonly quota: Quota
  /** The number of inputs committed so far. */
  readonly seq: number
}

/** A live entity's message to its account, sent after the commit that contains it. */
export interface Told extends Tell.Tell<{ readonly type: "ended"; readonly chargedCents: number }> {
  readonly from: EntityId
}

/** The figures from the rows, with all changes since. Days and months are UTC. */
export interface Tally {
  readonly balanceCents: number
  /**
   * The part of the balance that is money of the development processor. It pays only for requests that take it; their
   * charges take it first.
   */
  readonly testMoneyCents: number
  readonly creditLimitCents: number
  /** Whether the last auto-recharge failed. */
  readonly rechargeFailed: boolean
  /** The concurrent limit that the tenant's plan sets in place of the quota's; null when it sets none. */
  readonly planCallLimit: number | null
  readonly day: string
  readonly daySpentCents: number
  readonly monthSpentCents: number
  /** The spend before the current day began, for a clock that is set back; null when it is not known. */
  readonly before: { readonly day: string; readonly daySpentCents: number; readonly monthSpentCents: number } | null
  /** The entities that reserve money or fill the concurrent limit. */
  readonly live: Lives.Lives
}

export interface AccountState {
  readonly settings: Settings
  readonly tally: Tally
}

/**
 * Asks for money, and for a place of the concurrent limit where the purpose needs one. A further request replaces the
 * earlier reservation of the id.
 */
export interface Request {
  readonly purpose: Purpose.Purpose
  /** The total that the id may reserve, in cents: at least the first amount, or a later, higher one if possible. */
  readonly offers: readonly [number, ...ReadonlyArray<number>]
  /** Ascending amounts below the first offer, of which the highest possible one is reserved where that is refused. */
  readonly smaller?: ReadonlyArray<number>
  /** The total places of the concurrent limit that the id takes; absent: the number that the purpose takes. */
  readonly places?: number
  /** Whether money of the development processor may pay, which it may for calls with simulated phones. */
  readonly takesTestMoney?: boolean
}

export type AccountInput =
  | ({ readonly type: "reserve"; readonly id: EntityId } & Request)
  /** Replaces what the id holds, and is never more than was reserved. */
  | { readonly type: "holds"; readonly id: EntityId; readonly places: number; readonly reservedCents: number }
  /** The entity that the reservation was for never began. */
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

const isSameMonth = (day: string, other: string): boolean => day.slice(0, 7) === other.slice(0, 7)

/**
 * Starts each UTC day with nothing spent, and each month too. A clock that is set back does not reset anything: the
 * day's earlier spend counts again, and the spend since then counts with it.
 */
export const rolled = (tally: Tally, now: number): Tally => {
  const day = dayOf(now)
  if (day === tally.day) return tally
  const { before, daySpentCents, monthSpentCents } = tally
  if (day > tally.day)
    return {
      ...tally,
      day,
      daySpentCents: 0,
      monthSpentCents: isSameMonth(day, tally.day) ? monthSpentCents : 0,
      before: { day: tally.day, daySpentCents, monthSpentCents }
    }
  const own = before !== null && before.day >= day ? before : null
  return {
    ...tally,
    day,
    daySpentCents: daySpentCents + (own?.daySpentCents ?? 0),
    monthSpentCents: monthSpentCents + (own === null || isSameMonth(own.day, tally.day) ? 0 : own.monthSpentCents),
    before: null
  }
}

/** The effective concurrent limit, guide/money.md#plans. */
export const callLimit = ({
  settings,
  tally
}: {
  readonly settings: Settings
  readonly tally: Pick<Tally, "planCallLimit">
}): number => tally.planCallLimit ?? settings.quota.concurrentCallLimit

/** The facts that decide a request: the money and places that no other entity has spent or reserved. */
const facts = (
  { settings, tally }: AccountState,
  id: EntityId,
  places: number,
  takesTestMoney: boolean
): Purpose.Facts => {
  const { quota } = settings
  const own = Lives.get(tally.live, id)
  const reserved = tally.live.reservedCents - (own?.reservedCents ?? 0)
  const fundsCents = tally.balanceCents + tally.creditLimitCents - (takesTestMoney ? 0 : tally.testMoneyCents)
  const left = (cap: number | null, spent: number) => (cap === null ? Infinity : cap - spent - reserved)
  return {
    isActive: settings.status === "active",
    fundsCents,
    rechargeFailed: tally.rechargeFailed,
    freeCents: fundsCents - reserved,
    dayLeftCents: left(quota.dailySpendCapCents, tally.daySpentCents),
    monthLeftCents: left(quota.monthlySpendCapCents, tally.monthSpentCents),
    placesLeft: callLimit({ settings, tally }) - tally.live.places + (own?.places ?? 0) - places
  }
}

const messages = {
  balance_insufficient:
    "the balance, less what live calls reserve, does not pay for the call; top up and use a new Idempotency-Key",
  auto_recharge_failed:
    "the balance is used up and the last auto-recharge failed; top up, or change the card, and use a new Idempotency-Key",
  insufficient_balance:
    "the order costs more than balance and credit limit allow beside what live calls reserve; top up and use a new Idempotency-Key",
  daily_spend_cap_exceeded: "the daily spend cap leaves no room for it; the cap resets at midnight UTC",
  monthly_spend_cap_exceeded:
    "the monthly spend cap leaves no room for it; the cap resets on the first of the month, UTC",
  concurrent_call_cap_exceeded: "the limit of concurrent calls is reached",
  tenant_suspended: "the tenant is suspended"
} satisfies Record<Purpose.Refusal, string>

const errorOf = (code: Purpose.Refusal) => ApiError.of(code, messages[code])

/** The refusal of a request that the balance would pay for if all of it were real money. */
export class TestMoneyRefused extends ApiError {
  constructor(code: Purpose.Refusal, testMoneyCents: number) {
    super({
      code,
      message: `${testMoneyCents} cents of the balance are test money of the development processor, which pays for calls with simulated phones only: neither for calls over a trunk, nor for numbers, plans and lookups. It takes the operator's credit, or a real card where the operator has configured Stripe`
    })
  }
}

/** Why nothing new begins at this account, in either direction; null when it may. */
export const closedTo = (state: AccountState | null): ApiError | null =>
  state === null || state.settings.status === "active"
    ? null
    : ApiError.of("tenant_suspended", messages.tenant_suspended)

/** Why the account would refuse the request now; null when it would reserve. */
export const refusal = (state: AccountState, id: EntityId, request: Request): ApiError | null => {
  const judged = judge(state, id, request)
  return judged instanceof ApiError ? judged : null
}

const judge = (
  state: AccountState,
  id: EntityId,
  { offers, places, purpose, smaller, takesTestMoney = false }: Request
): ApiError | { readonly reservedCents: number } => {
  const judged = (isTaken: boolean) =>
    Purpose.judge(purpose, offers, facts(state, id, places ?? Purpose.placesOf(purpose), isTaken), smaller)
  const found = judged(takesTestMoney)
  if (typeof found !== "string") return found
  const { testMoneyCents } = state.tally
  return takesTestMoney || testMoneyCents === 0 || judged(true) === found
    ? errorOf(found)
    : new TestMoneyRefused(found, testMoneyCents)
}

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
    case "reserve": {
      const { id, places = Purpose.placesOf(input.purpose) } = input
      const judged = judge({ settings, tally }, id, input)
      if (judged instanceof ApiError) return rejected(judged)
      const heard = Lives.get(tally.live, id)?.heard ?? 0
      const live: Lives.Live = {
        places,
        reservedCents: judged.reservedCents,
        heard,
        ...(input.takesTestMoney === true ? { takesTestMoney: true } : {})
      }
      return withTally({ live: Lives.set(tally.live, id, live) })
    }
    case "holds": {
      const { id, places, reservedCents } = input
      const held = Lives.get(tally.live, id)
      return held === null
        ? unchanged
        : withTally({ live: Lives.set(tally.live, id, { ...held, places, reservedCents }) })
    }
    case "abandoned":
      return Lives.get(tally.live, input.id) === null
        ? unchanged
        : withTally({ live: Lives.remove(tally.live, input.id) })
    case "told": {
      const { body, from, n } = input
      const sender = Lives.get(tally.live, from)
      if (sender === null || Tell.hear(sender.heard, n) === "repeated") return unchanged
      // An earlier message was lost with an actor that died. The rows include its effect, so the actor reads them
      // again.
      if (Tell.hear(sender.heard, n) === "early") throw new Error(`the account missed what ${from} told before ${n}`)
      return withTally({
        live: Lives.remove(tally.live, from),
        balanceCents: tally.balanceCents - body.chargedCents,
        testMoneyCents:
          sender.takesTestMoney === true ? Math.max(0, tally.testMoneyCents - body.chargedCents) : tally.testMoneyCents,
        daySpentCents: tally.daySpentCents + body.chargedCents,
        monthSpentCents: tally.monthSpentCents + body.chargedCents
      })
    }
    case "quota_set":
      return withSettings({ quota: { ...settings.quota, ...input.quota } })
    case "suspended":
      return isSuspendedBy(settings, input.reason)
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

/**
 * Whether the reason becomes the reason of the suspension. A person's decision replaces that of the sweep, because a
 * verified address would lift it otherwise. The sweep overrules no other reason.
 */
const isSuspendedBy = ({ status, suspensionReason }: Settings, reason: SuspensionReason): boolean =>
  status === "active" || (status === "suspended" && reason !== "email_unverified" && reason !== suspensionReason)

/** The registry decides how long an account lives, so it has no deadlines and no terminal state. */
export const machine: Machine<AccountState, AccountInput, Effects> = {
  step,
  nextDeadline: () => null,
  isSettled: () => false
}

/** The first settings of a tenant. Their seq is 1. */
export const opened = (tenantId: TenantId): Settings => ({
  tenantId,
  status: "active",
  suspensionReason: null,
  quota: defaultQuota,
  seq: 1
})
