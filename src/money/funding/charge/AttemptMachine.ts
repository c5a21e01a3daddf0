import type { AuditRow } from "../../../runtime/store/journal/Journal.ts"
import type { LedgerEntryId, PaymentMethodId, TenantId } from "../../../domain/Id.ts"
import { type Decline, type Intent, unknownDecline } from "../../../ports/payment/Payments.ts"

/**
 * An attempt to charge a card, guide/money.md#top-ups: what is done next, and what an intent of the processor makes of it.
 *
 * The attempt is committed before the processor is asked, and its id is the key of the charge. Answer, webhook and sweep
 * bring the same thing, an intent, and `settle` says what it comes to, however often and in whatever order they come.
 */
export interface Attempt {
  /** Of the ledger entry that it becomes. */
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

/** The processor may forget a key after 24 hours, so from here on its charge is never asked for again. */
export const keyMs = 23 * hourMs
/** A charge that was asked for just before `keyMs` is answered or lost by now: what is not there will not be. */
const gaveUpMs = keyMs + hourMs / 2
/** So long the cardholder may take to confirm a payment; then it is canceled. */
export const confirmMs = hourMs

/** The processor has no charge (or refund) of it: `wait` until nothing can be under way any more. */
export const absent = ({ createdAt }: Pick<Attempt, "createdAt">, now: number): "charge" | "wait" | "give_up" => {
  const ageMs = now - createdAt
  return ageMs < keyMs ? "charge" : ageMs < gaveUpMs ? "wait" : "give_up"
}

/** Whoever tries stolen cards does so often; a cardholder does not. */
export const declinesWithinMs = 24 * hourMs
const mostDeclines = 8
/** Of all its cards: to a processor a card that is saved anew is another one. */
const mostDeclinesOfTenant = 24
const mostPending = 10

/** What was tried within `declinesWithinMs`, and what is under way. */
export interface Tried {
  /** Declines of the card, and how often it is being charged. */
  readonly declined: number
  readonly charging: number
  /** The same of all cards of the tenant. */
  readonly declinedOfTenant: number
  readonly pending: number
}

/** Why a card is not charged now, by a top-up or by auto-recharge; null: it may be. */
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
      : // What is under way with a card that was declined may be declined, too.
        pending >= mostPending ||
          (declined > 0 && declined + charging >= mostDeclines) ||
          (declinedOfTenant > 0 && declinedOfTenant + pending >= mostDeclinesOfTenant)
        ? "pending"
        : null

/**
 * What the processor is asked first: to charge, or whether it has the charge of a try before this one. What counts as the
 * first try may have had others, which a process that stopped gave back, or before the operator revived the job. So a key
 * whose age is too high, or unknown because the clock was set back, is not used without a look.
 */
export const first = (isFirstTry: boolean, { createdAt }: Pick<Attempt, "createdAt">, now: number): "charge" | "find" =>
  isFirstTry && now >= createdAt && now - createdAt < keyMs ? "charge" : "find"

/** The processor has this intent of it. */
export const present = ({ createdAt, status }: Attempt, intent: Intent, now: number): "settle" | "cancel" =>
  status === "pending" && intent.status === "requires_action" && now - createdAt >= confirmMs ? "cancel" : "settle"

/** What an intent makes of an attempt. */
export type Settlement =
  /** Nothing new. */
  | { readonly type: "unchanged" }
  /** It goes on; the intent is known from now on. */
  | { readonly type: "begun" }
  /** The card was charged: the money is credited. */
  | { readonly type: "succeeded" }
  | { readonly type: "failed"; readonly decline: Decline }
  /** The intent is not what was asked for. A fault: nothing is credited, and somebody has to look. */
  | { readonly type: "mismatch"; readonly detail: string }

const unchanged: Settlement = { type: "unchanged" }

const canceled: Decline = { ...unknownDecline, code: "canceled", message: "The payment was not confirmed in time." }

/** Of a charge that never reached the processor. */
export const neverCharged: Decline = {
  ...unknownDecline,
  code: "not_charged",
  message: "The payment processor could not be reached; nothing was charged."
}

/** Of a charge that the processor does not make. */
export const refused: Decline = {
  ...unknownDecline,
  code: "refused",
  message: "The payment processor does not accept this payment."
}

/**
 * A failure is not final: money that was taken is credited, however late. A success is, as what goes back is a refund or
 * a dispute of its own.
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
