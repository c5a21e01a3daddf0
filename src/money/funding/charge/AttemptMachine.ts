import type { AuditRow } from "../../../runtime/store/journal/Journal.ts"
import type { LedgerEntryId, PaymentMethodId, TenantId } from "../../../domain/Id.ts"
import { type Decline, type Intent, unknownDecline } from "../../../ports/payment/Payments.ts"

/**
 * An attempt to charge a card, guide/money.md#top-ups: its next step, and its outcome by an intent of the processor.
 *
 * The attempt is committed before the processor is asked, and its id is the key of the charge. Answer, webhook and
 * sweep all bring an intent, and `settle` decides its result, however often and in whatever order they come.
 */
export interface Attempt {
  /** The id of the ledger entry that it becomes. */
  readonly id: LedgerEntryId
  readonly tenantId: TenantId
  readonly processor: string
  readonly kind: "topup" | "auto_recharge"
  readonly amountCents: number
  readonly paymentMethodId: PaymentMethodId
  readonly customerId: string
  readonly cardId: string
  readonly status: "pending" | "succeeded" | "failed"
  readonly intentId: string | null
  readonly failureCode: string | null
  readonly failureMessage: string | null
  readonly actor: AuditRow["actor"]
  readonly ip: string | null
  readonly createdAt: number
  readonly settledAt: number | null
}

const hourMs = 3_600_000

/** The processor may forget a key after 24 hours, so from this age on its charge is never requested again. */
const keyMs = 23 * hourMs
/** A charge requested just before `keyMs` is answered or lost by now, so one that is missing will not appear. */
const gaveUpMs = keyMs + hourMs / 2
/** How long the cardholder may take to confirm a payment; then it is canceled. */
const confirmMs = hourMs

/** The next step when the processor has no charge (or refund) for it: `wait` while one may still be under way. */
export const absent = ({ createdAt }: Pick<Attempt, "createdAt">, now: number): "charge" | "wait" | "give_up" => {
  const ageMs = now - createdAt
  return ageMs < keyMs ? "charge" : ageMs < gaveUpMs ? "wait" : "give_up"
}

/** A thief who tests stolen cards tries often; a cardholder does not. */
export const declinesWithinMs = 24 * hourMs
const mostDeclines = 8
/** This counts all cards of the tenant, because a card that is saved again is another one to a processor. */
const mostDeclinesOfTenant = 24
const mostPending = 10

/** The attempts within `declinesWithinMs`, finished and under way. */
export interface Tried {
  /** The card's declines; `charging` counts the charges of it that are under way. */
  readonly declined: number
  readonly charging: number
  /** The same for all cards of the tenant. */
  readonly declinedOfTenant: number
  readonly pending: number
}

/** Why a card is not charged now, by a top-up or by auto-recharge; null when it may be. */
export const refusal = ({
  charging,
  declined,
  declinedOfTenant,
  pending
}: Tried): "card_declined" | "cards_declined" | "pending" | null =>
  declined >= mostDeclines
    ? "card_declined"
    : declinedOfTenant >= mostDeclinesOfTenant
      ? "cards_declined"
      : // An attempt under way with a card that was declined may be declined, too.
        pending >= mostPending ||
          (declined > 0 && declined + charging >= mostDeclines) ||
          (declinedOfTenant > 0 && declinedOfTenant + pending >= mostDeclinesOfTenant)
        ? "pending"
        : null

/**
 * The first request to the processor: to charge, or to look for the charge of an earlier attempt of the job. A first
 * attempt may have had predecessors, which a stopped process gave back, or before the operator revived the job. So a
 * key whose age is too high, or unknown because the clock was set back, is not used without a look.
 */
export const first = (isFirstTry: boolean, { createdAt }: Pick<Attempt, "createdAt">, now: number): "charge" | "find" =>
  isFirstTry && now >= createdAt && now - createdAt < keyMs ? "charge" : "find"

/** The next step when the processor has this intent for the attempt. */
export const present = ({ createdAt, status }: Attempt, intent: Intent, now: number): "settle" | "cancel" =>
  status === "pending" && intent.status === "requires_action" && now - createdAt >= confirmMs ? "cancel" : "settle"

/** The effect of an intent on an attempt. */
export type Settlement =
  /** The intent contains nothing new. */
  | { readonly type: "unchanged" }
  /** The attempt continues, and its intent is known from now on. */
  | { readonly type: "begun" }
  /** The card was charged, so the money is credited. */
  | { readonly type: "succeeded" }
  | { readonly type: "failed"; readonly decline: Decline }
  /** The intent differs from the request. This is a fault: nothing is credited, and the operator has to look. */
  | { readonly type: "mismatch"; readonly detail: string }

const unchanged: Settlement = { type: "unchanged" }

const canceled: Decline = { ...unknownDecline, code: "canceled", message: "The payment was not confirmed in time." }

/** The decline of a charge that never reached the processor. */
export const neverCharged: Decline = {
  ...unknownDecline,
  code: "not_charged",
  message: "The payment processor could not be reached; nothing was charged."
}

/** The decline of a charge that the processor does not make. */
export const refused: Decline = {
  ...unknownDecline,
  code: "refused",
  message: "The payment processor does not accept this payment."
}

/** The decline of a charge whose outcome the operator does not wait for any more. */
export const abandoned: Decline = {
  ...unknownDecline,
  code: "abandoned",
  message: "The outcome of this payment could not be learned from the payment processor."
}

/** The decline of a charge whose customer is gone at the processor. */
export const cardGone: Decline = {
  ...unknownDecline,
  code: "card_gone",
  message: "The payment processor does not have this card any more; nothing was charged. Save it again."
}

/**
 * A failure is not final: money that was taken is credited, however late. A success is final, because money that goes
 * back is a separate refund or dispute.
 */
export const settle = (attempt: Attempt, intent: Intent): Settlement => {
  const fault = faultOf(attempt, intent)
  if (fault !== null) return { type: "mismatch", detail: fault }
  if (attempt.status === "succeeded") return unchanged
  switch (intent.status) {
    case "succeeded":
      return { type: "succeeded" }
    case "processing":
    case "requires_action":
      return attempt.status === "pending" && attempt.intentId === null ? { type: "begun" } : unchanged
    case "declined":
      return attempt.status === "pending" ? { type: "failed", decline: intent.decline ?? unknownDecline } : unchanged
    case "canceled":
      return attempt.status === "pending" ? { type: "failed", decline: intent.decline ?? canceled } : unchanged
  }
}

const faultOf = (attempt: Attempt, intent: Intent): string | null => {
  if (intent.attemptId !== attempt.id) return `it is of the attempt ${intent.attemptId ?? "none"}`
  if (intent.customerId !== attempt.customerId) return `it is of the customer ${intent.customerId ?? "none"}`
  if (attempt.intentId !== null && attempt.intentId !== intent.id)
    return `the attempt has the intent ${attempt.intentId}`
  if (intent.currency !== "usd") return `it is in ${intent.currency}`
  const cents = intent.status === "succeeded" ? intent.receivedCents : intent.amountCents
  return cents === attempt.amountCents ? null : `it is of ${cents} cents, not ${attempt.amountCents}`
}
