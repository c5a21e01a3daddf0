import { Context, type Effect, Schema } from "effect"

/**
 * The card payment processor (Stripe's terms). Money crosses as whole cents of USD; times are epoch milliseconds.
 *
 * Its ids are texts of its own. What is ours it keeps as metadata: the attempt of an intent, the request of a refund.
 */

/** Why a card was not charged. */
export interface Decline {
  /** `card_declined`, `insufficient_funds`, `expired_card`, `authentication_required`, … */
  readonly code: string
  /** For people. */
  readonly message: string
  /** The cardholder has to confirm the payment in person. */
  readonly needsAuthentication: boolean
  /** The issuer asks not to be asked again (`do_not_try_again`). */
  readonly isFinal: boolean
}

export const unknownDecline: Decline = {
  code: "card_declined",
  message: "The card was declined.",
  needsAuthentication: false,
  isFinal: false
}

/**
 * What became of a payment. `requires_action`: the cardholder has yet to confirm it. `declined`: nothing was charged,
 * though the same intent may be paid yet by whoever has its secret.
 */
export type IntentStatus = "succeeded" | "processing" | "requires_action" | "declined" | "canceled"

export interface Intent {
  readonly id: string
  readonly status: IntentStatus
  readonly customerId: string | null
  readonly amountCents: number
  /** What was charged: 0 until it has succeeded. */
  readonly receivedCents: number
  /** Lower case, ISO 4217. */
  readonly currency: string
  /** Ours, from the metadata. */
  readonly attemptId: string | null
  /** With which the tenant's page lets the cardholder confirm it. */
  readonly clientSecret: string | null
  /** Why it was declined the last time. */
  readonly decline: Decline | null
}

export interface Card {
  readonly id: string
  readonly customerId: string | null
  readonly brand: string
  readonly last4: string
  readonly expMonth: number
  readonly expYear: number
}

/** `pending` counts as done until it fails: the processor has taken it from our account. */
export interface Refund {
  readonly id: string
  readonly intentId: string | null
  readonly amountCents: number
  readonly status: "pending" | "succeeded" | "failed"
  /** Ours, from the metadata; null: somebody refunded at the processor itself. */
  readonly requestId: string | null
}

/** `inquiry`: no money was taken. `open`, `lost`: it was taken from our account; `won`: it is back. */
export interface Dispute {
  readonly id: string
  readonly intentId: string | null
  readonly amountCents: number
  readonly status: "inquiry" | "open" | "won" | "lost"
}

/** Money that moved at the processor, before its fees; negative: it left our account. */
export interface Movement {
  readonly type: "charge" | "refund" | "dispute"
  /** Of the charge, refund or dispute. */
  readonly id: string
  readonly intentId: string | null
  readonly amountCents: number
  readonly at: number
}

/** What an event is about. It is fetched again, so the event itself is not believed. */
export type Subject =
  | { readonly type: "intent"; readonly id: string }
  /** The refunds of this intent. */
  | { readonly type: "refunds"; readonly id: string }
  | { readonly type: "dispute"; readonly id: string }

export interface ProcessorEvent {
  readonly id: string
  /** In the processor's words. */
  readonly type: string
  /** Null: nothing that concerns payments here. */
  readonly subject: Subject | null
}

/**
 * `unknown`: whether it was done is not known (no answer, an answer that makes no sense, the processor's own failure), or
 * it was not done now and may be later. `declined`: the card said no, and no intent tells so. `refused`: the processor
 * does not do this, and nothing has happened.
 */
export class PaymentError extends Schema.TaggedError<PaymentError>()("PaymentError", {
  reason: Schema.Literals(["unknown", "declined", "refused"]),
  /** For the log of the operator. */
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

export interface Charge {
  /** The same key is the same charge, for a day at least. */
  readonly key: string
  readonly attemptId: string
  readonly tenantId: string
  readonly customerId: string
  readonly cardId: string
  readonly amountCents: number
  /** Nobody is there to confirm the payment. */
  readonly isOffSession: boolean
  readonly description: string
}

export class Payments extends Context.Service<
  Payments,
  {
    /** Kept with what was made there: ids of one processor mean nothing to another. */
    readonly name: "stripe" | "development"
    /** Whether money moves. */
    readonly isReal: boolean
    /** For the tenant's page, which gives the card number to the processor and not to us. */
    readonly publishableKey: string
    /** Gives the customer's id. */
    readonly createCustomer: (of: {
      readonly key: string
      readonly tenantId: string
    }) => Effect.Effect<string, PaymentError>
    /** Begins to save a card, for use without its holder. */
    readonly setup: (
      customerId: string
    ) => Effect.Effect<{ readonly id: string; readonly clientSecret: string }, PaymentError>
    /**
     * Gives the card, which belongs to the customer from now on. Fails with `refused` where it is no card or belongs to
     * another customer, with `declined` where its issuer does not let it be saved.
     */
    readonly attach: (of: { readonly customerId: string; readonly cardId: string }) => Effect.Effect<Card, PaymentError>
    /** A card that is unknown, or detached already, is detached. */
    readonly detach: (cardId: string) => Effect.Effect<void, PaymentError>
    /** Charges a card now. A decline is an intent that was declined. */
    readonly charge: (charge: Charge) => Effect.Effect<Intent, PaymentError>
    /** The intent of an attempt, by customer and metadata; null: there is none. */
    readonly find: (of: {
      readonly customerId: string
      readonly attemptId: string
      /** No intent of it is older. */
      readonly sinceMs: number
    }) => Effect.Effect<Intent | null, PaymentError>
    readonly intent: (id: string) => Effect.Effect<Intent, PaymentError>
    /** Gives the intent as it is then: one that has succeeded meanwhile stays so. */
    readonly cancel: (id: string) => Effect.Effect<Intent, PaymentError>
    readonly refund: (of: {
      readonly key: string
      readonly requestId: string
      readonly intentId: string
      readonly amountCents: number
    }) => Effect.Effect<Refund, PaymentError>
    /** All refunds of an intent. */
    readonly refunds: (intentId: string) => Effect.Effect<ReadonlyArray<Refund>, PaymentError>
    readonly dispute: (id: string) => Effect.Effect<Dispute, PaymentError>
    /**
     * What moved since then, of one customer or (null) of all. All pages; a dispute that was won has two movements, or
     * none.
     */
    readonly movements: (of: {
      readonly customerId: string | null
      readonly sinceMs: number
    }) => Effect.Effect<ReadonlyArray<Movement>, PaymentError>
    /** What the raw bytes of an event say; null: its signature is not the processor's, too old, or of the future. */
    readonly verify: (event: {
      readonly body: Uint8Array
      readonly signature: string
      readonly nowMs: number
    }) => ProcessorEvent | null
  }
>()("trunkline/payment/Payments") {}
