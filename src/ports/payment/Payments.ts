import { Context, type Effect, Schema } from "effect"

/**
 * The card payment processor, in Stripe's terms. Amounts are whole cents of USD; times are epoch milliseconds.
 *
 * The processor's ids are texts without a meaning here. It keeps ours as metadata: the attempt of an intent, the
 * request of a refund.
 */

export interface Decline {
  /** `card_declined`, `insufficient_funds`, `expired_card`, `authentication_required`, … */
  readonly code: string
  /** The reason as text for people. */
  readonly message: string
  /** True when the cardholder has to confirm the payment in person. */
  readonly needsAuthentication: boolean
  /** True when the issuer wants no further attempt (`do_not_try_again`). */
  readonly isFinal: boolean
}

export const unknownDecline: Decline = {
  code: "card_declined",
  message: "The card was declined.",
  needsAuthentication: false,
  isFinal: false
}

/**
 * The outcome of a payment. `requires_action`: the cardholder has yet to confirm it. `declined`: nothing was charged,
 * but the same intent may still be paid by a client that has its secret.
 */
export type IntentStatus = "succeeded" | "processing" | "requires_action" | "declined" | "canceled"

export interface Intent {
  readonly id: string
  readonly status: IntentStatus
  readonly customerId: string | null
  readonly amountCents: number
  /** The charged amount: 0 until the payment has succeeded. */
  readonly receivedCents: number
  /** Lower case, ISO 4217. */
  readonly currency: string
  /** Our attempt, from the metadata. */
  readonly attemptId: string | null
  /** The secret with which the tenant's page lets the cardholder confirm the payment. */
  readonly clientSecret: string | null
  /** The reason of the last decline. */
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

/** `pending` counts as done until it fails, because the processor has taken the money from our account. */
export interface Refund {
  readonly id: string
  readonly intentId: string | null
  readonly amountCents: number
  readonly status: "pending" | "succeeded" | "failed"
  /** Our request, from the metadata; null: the refund was made at the processor itself. */
  readonly requestId: string | null
}

/** `inquiry`: no money was taken. `open`, `lost`: it was taken from our account. `won`: it was given back. */
export interface Dispute {
  readonly id: string
  readonly intentId: string | null
  readonly amountCents: number
  readonly status: "inquiry" | "open" | "won" | "lost"
}

/** Money that moved at the processor, before its fees; negative: it left our account. */
export interface Movement {
  readonly type: "charge" | "refund" | "dispute"
  /** The id of the charge, refund or dispute. */
  readonly id: string
  readonly intentId: string | null
  /** In the smallest unit of the currency. */
  readonly amountCents: number
  /** Lower case, ISO 4217. */
  readonly currency: string
  /** The customer that paid; null: there is none, or the refund or dispute does not name it. */
  readonly customerId: string | null
  /** Our attempt, from the metadata that a charge has from its intent; null: there is none, or it is not named. */
  readonly attemptId: string | null
  readonly at: number
}

/** The object of an event. It is fetched again, because the event itself is not trusted. */
export type Subject =
  | { readonly type: "intent"; readonly id: string }
  /** The refunds of this intent. */
  | { readonly type: "refunds"; readonly id: string }
  | { readonly type: "dispute"; readonly id: string }

export interface ProcessorEvent {
  readonly id: string
  /** The processor's name for the type. */
  readonly type: string
  /** Null: the event does not concern payments here. */
  readonly subject: Subject | null
}

/**
 * `unknown`: the outcome is unknown (no answer, an answer that makes no sense, the processor's own failure), or the
 * request was not done now and may be later. `denied`: the processor does not accept our key for this. `declined`: the
 * card was declined, and no intent records it. `refused`: the processor does not do this. `gone`: it does not know the
 * customer (any more), who was deleted or belongs to another account.
 *
 * None of them says what an earlier request with the same key has done: only `find` and `refunds` do.
 */
export class PaymentError extends Schema.TaggedError<PaymentError>()("PaymentError", {
  reason: Schema.Literals(["unknown", "denied", "declined", "refused", "gone"]),
  /** The text for the operator's log. */
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

interface Charge {
  /** The same key is the same charge, for at least a day. */
  readonly key: string
  readonly attemptId: string
  readonly tenantId: string
  readonly customerId: string
  readonly cardId: string
  readonly amountCents: number
  /** True when the cardholder is not present to confirm the payment. */
  readonly isOffSession: boolean
  readonly description: string
}

export class Payments extends Context.Service<
  Payments,
  {
    /** The name is stored with everything that was made there, because ids of one processor mean nothing to another. */
    readonly name: "stripe" | "development"
    /** True when money moves. */
    readonly isReal: boolean
    /** A name of our key that is no secret; another key has another one. */
    readonly keyMark: string
    /** The key for the tenant's page, which gives the card number to the processor and not to us. */
    readonly publishableKey: string
    /** Gives the customer's id. */
    readonly createCustomer: (of: {
      readonly key: string
      readonly tenantId: string
    }) => Effect.Effect<string, PaymentError>
    /** `absent`: the account never had it. */
    readonly customer: (id: string) => Effect.Effect<"present" | "deleted" | "absent", PaymentError>
    /** Begins to save a card, for use without the cardholder. */
    readonly setup: (
      customerId: string
    ) => Effect.Effect<{ readonly id: string; readonly clientSecret: string }, PaymentError>
    /**
     * Gives the card, which belongs to the customer from now on. Fails with `refused` when it is no card or belongs to
     * another customer, and with `declined` when its issuer does not let it be saved.
     */
    readonly attach: (of: { readonly customerId: string; readonly cardId: string }) => Effect.Effect<Card, PaymentError>
    /** Detaches a card. It also succeeds for a card that is unknown or detached already. */
    readonly detach: (cardId: string) => Effect.Effect<void, PaymentError>
    /** Charges a card now. A decline is a declined intent, not a failure. */
    readonly charge: (charge: Charge) => Effect.Effect<Intent, PaymentError>
    /**
     * Finds the intent of an attempt by customer and metadata, even when the customer was deleted; null: there is none.
     * It fails with `gone` at an account that never had the customer, because its intents are at another one.
     */
    readonly find: (of: {
      readonly customerId: string
      readonly attemptId: string
      /** A time before which the attempt has no intent. */
      readonly sinceMs: number
    }) => Effect.Effect<Intent | null, PaymentError>
    readonly intent: (id: string) => Effect.Effect<Intent, PaymentError>
    /** Gives the resulting intent: one that has succeeded meanwhile stays so. */
    readonly cancel: (id: string) => Effect.Effect<Intent, PaymentError>
    readonly refund: (of: {
      readonly key: string
      readonly requestId: string
      readonly intentId: string
      readonly amountCents: number
    }) => Effect.Effect<Refund, PaymentError>
    /** The refunds of an intent. It fails with `refused` at an account that does not have the intent. */
    readonly refunds: (intentId: string) => Effect.Effect<ReadonlyArray<Refund>, PaymentError>
    readonly dispute: (id: string) => Effect.Effect<Dispute, PaymentError>
    /**
     * The movements since then, of one customer or (null) of all, from all pages. A dispute that was won has two
     * movements, or none.
     */
    readonly movements: (of: {
      readonly customerId: string | null
      readonly sinceMs: number
    }) => Effect.Effect<ReadonlyArray<Movement>, PaymentError>
    /** Reads an event from its raw bytes; null: its signature is not the processor's, too old, or of the future. */
    readonly verify: (event: {
      readonly body: Uint8Array
      readonly signature: string
      readonly nowMs: number
    }) => ProcessorEvent | null
  }
>()("trunkline/payment/Payments") {}
