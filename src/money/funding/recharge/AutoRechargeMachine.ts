import type { Decline } from "../../../ports/payment/Payments.ts"

/**
 * Decides when a tenant's card is charged automatically, and when no more, guide/money.md#auto-recharge. Pure; times
 * are epoch milliseconds.
 */
export interface AutoRecharge {
  readonly enabled: boolean
  readonly thresholdCents: number | null
  readonly amountCents: number | null
  /** Declines since the last success, or since the tenant changed the settings. */
  readonly failures: number
  /** The earliest time of the next charge. */
  readonly nextTryAt: number | null
  readonly lastAttemptAt: number | null
  readonly lastAttemptStatus: "succeeded" | "failed" | null
  /** Why this service disabled it; null when it did not. */
  readonly disabledReason: DisabledReason | null
}

export type DisabledReason = "declined" | "authentication_required" | "do_not_try_again" | "card_gone"

export interface Facts {
  readonly balanceCents: number
  /** Whether a recharge is under way. */
  readonly isPending: boolean
  /** Recharges that have succeeded in this UTC day. */
  readonly succeededToday: number
}

const hourMs = 3_600_000

/** Waits after the first three declines; the fourth disables it. Card schemes allow 15 attempts in 30 days. */
const waitsMs = [hourMs, 6 * hourMs, 24 * hourMs]

const mostADay = 3

/** The cents to charge now; null when nothing is due. */
export const due = (recharge: AutoRecharge, facts: Facts, now: number): number | null =>
  recharge.enabled &&
  recharge.thresholdCents !== null &&
  recharge.amountCents !== null &&
  facts.balanceCents <= recharge.thresholdCents &&
  !facts.isPending &&
  facts.succeededToday < mostADay &&
  (recharge.nextTryAt === null || recharge.nextTryAt <= now)
    ? recharge.amountCents
    : null

export const succeeded = (recharge: AutoRecharge, now: number): AutoRecharge => ({
  ...recharge,
  failures: 0,
  nextTryAt: null,
  lastAttemptAt: now,
  lastAttemptStatus: "succeeded"
})

/** After a failed charge, the next is later, or never automatic. */
export const failed = (recharge: AutoRecharge, decline: Decline, now: number): AutoRecharge => {
  const failures = recharge.failures + 1
  const waitMs = waitsMs[failures - 1]
  const reason: DisabledReason | null = decline.needsAuthentication
    ? "authentication_required"
    : decline.isFinal
      ? "do_not_try_again"
      : waitMs === undefined
        ? "declined"
        : null
  const after = { ...recharge, failures, lastAttemptAt: now, lastAttemptStatus: "failed" } as const
  return reason === null
    ? { ...after, nextTryAt: now + (waitMs ?? 0) }
    : { ...after, enabled: false, nextTryAt: null, disabledReason: recharge.enabled ? reason : recharge.disabledReason }
}

/** The processor does not have its card any more. */
export const cardGone = (recharge: AutoRecharge): AutoRecharge => ({
  ...recharge,
  enabled: false,
  nextTryAt: null,
  disabledReason: "card_gone"
})

/** The tenant sets it anew, so earlier failures count no more. */
export const set = (
  recharge: AutoRecharge,
  by: Pick<AutoRecharge, "enabled" | "thresholdCents" | "amountCents">
): AutoRecharge => ({ ...recharge, ...by, failures: 0, nextTryAt: null, disabledReason: null })

export const none: AutoRecharge = {
  enabled: false,
  thresholdCents: null,
  amountCents: null,
  failures: 0,
  nextTryAt: null,
  lastAttemptAt: null,
  lastAttemptStatus: null,
  disabledReason: null
}
