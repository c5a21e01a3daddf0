import { Effect, Result, Schema } from "effect"
import * as Payments from "../Payments.ts"

/**
 * Decodes Stripe's answers with checks, because an unusual failure of Stripe reaches the SDK's caller as a success, and
 * the SDK's types are no proof where money is concerned.
 */

const OrNull = Schema.NullOr
const optional = <S extends Schema.Top>(schema: S) => Schema.optional(OrNull(schema))
/** An object, or the id of one that was not expanded. */
const Reference = Schema.Union([Schema.String, Schema.Struct({ id: Schema.String })])
const idOf = (reference: typeof Reference.Type | null | undefined): string | null =>
  reference == null ? null : typeof reference === "string" ? reference : reference.id

const Cents = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Metadata = optional(Schema.Record(Schema.String, Schema.String))

/** `last_payment_error` of an intent, and the error of a request. */
const CardError = Schema.Struct({
  code: optional(Schema.String),
  decline_code: optional(Schema.String),
  advice_code: optional(Schema.String),
  message: optional(Schema.String)
})

const Intent = Schema.Struct({
  object: Schema.Literal("payment_intent"),
  id: Schema.String,
  status: Schema.Literals([
    "succeeded",
    "processing",
    "requires_action",
    "requires_capture",
    "requires_confirmation",
    "requires_payment_method",
    "canceled"
  ]),
  amount: Cents,
  amount_received: Cents,
  currency: Schema.String,
  customer: optional(Reference),
  client_secret: optional(Schema.String),
  metadata: Metadata,
  last_payment_error: optional(CardError)
})

const statuses: Readonly<Record<(typeof Intent.Type)["status"], Payments.IntentStatus>> = {
  succeeded: "succeeded",
  processing: "processing",
  requires_action: "requires_action",
  // Our requests lead to neither; a person at the processor has to continue.
  requires_capture: "processing",
  requires_confirmation: "requires_action",
  requires_payment_method: "declined",
  canceled: "canceled"
}

/** The issuer's reason is more precise than the processor's code. A tenant may see both. */
const declineOf = (error: typeof CardError.Type): Payments.Decline => ({
  code: error.decline_code ?? error.code ?? Payments.unknownDecline.code,
  message: error.message ?? Payments.unknownDecline.message,
  needsAuthentication:
    error.code === "authentication_required" ||
    error.decline_code === "authentication_required" ||
    error.code === "payment_intent_authentication_failure",
  isFinal: error.advice_code === "do_not_try_again"
})

const decoded =
  <S extends Schema.Top & { readonly DecodingServices: never }, A>(schema: S, make: (value: S["Type"]) => A) =>
  (answer: unknown): Effect.Effect<A, Payments.PaymentError> => {
    const read = Schema.decodeUnknownResult(schema)(answer)
    return Result.isSuccess(read)
      ? Effect.succeed(make(read.success))
      : Effect.fail(new Payments.PaymentError({ reason: "unknown", detail: "the processor's answer makes no sense" }))
  }

export const intent = decoded(Intent, (from): Payments.Intent => ({
  id: from.id,
  status: statuses[from.status],
  customerId: idOf(from.customer),
  amountCents: from.amount,
  receivedCents: from.amount_received,
  currency: from.currency,
  attemptId: from.metadata?.["attempt"] ?? null,
  clientSecret: from.client_secret ?? null,
  decline: from.last_payment_error == null ? null : declineOf(from.last_payment_error)
}))

/** A page of a list; its items are decoded one by one. */
export const list = decoded(
  Schema.Struct({
    object: Schema.Literal("list"),
    data: Schema.Array(
      Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [Schema.Record(Schema.String, Schema.Unknown)])
    ),
    has_more: Schema.Boolean
  }),
  (page) => page
)

export const customer = decoded(
  Schema.Struct({ object: Schema.Literal("customer"), id: Schema.String }),
  ({ id }) => id
)

export const customerState = decoded(
  Schema.Struct({ object: Schema.Literal("customer"), deleted: optional(Schema.Boolean) }),
  ({ deleted }) => (deleted === true ? ("deleted" as const) : ("present" as const))
)

export const setup = decoded(
  Schema.Struct({ object: Schema.Literal("setup_intent"), id: Schema.String, client_secret: Schema.String }),
  ({ client_secret, id }) => ({ id, clientSecret: client_secret })
)

export const card = decoded(
  Schema.Struct({
    object: Schema.Literal("payment_method"),
    id: Schema.String,
    customer: optional(Reference),
    card: Schema.Struct({
      brand: Schema.String,
      last4: Schema.String,
      exp_month: Schema.Int,
      exp_year: Schema.Int
    })
  }),
  ({ card: of, customer: owner, id }): Payments.Card => ({
    id,
    customerId: idOf(owner),
    brand: of.brand,
    last4: of.last4,
    expMonth: of.exp_month,
    expYear: of.exp_year
  })
)

export const refund = decoded(
  Schema.Struct({
    object: Schema.Literal("refund"),
    id: Schema.String,
    amount: Cents,
    status: optional(Schema.String),
    payment_intent: optional(Reference),
    metadata: Metadata
  }),
  (from): Payments.Refund => ({
    id: from.id,
    intentId: idOf(from.payment_intent),
    amountCents: from.amount,
    status:
      from.status === "succeeded"
        ? "succeeded"
        : from.status === "failed" || from.status === "canceled"
          ? "failed"
          : "pending",
    requestId: from.metadata?.["refund"] ?? null
  })
)

const disputes: Readonly<Record<string, Payments.Dispute["status"]>> = {
  warning_needs_response: "inquiry",
  warning_under_review: "inquiry",
  warning_closed: "inquiry",
  prevented: "inquiry",
  needs_response: "open",
  under_review: "open",
  won: "won",
  lost: "lost"
}

export const dispute = decoded(
  Schema.Struct({
    object: Schema.Literal("dispute"),
    id: Schema.String,
    amount: Cents,
    status: Schema.String,
    payment_intent: optional(Reference)
  }),
  (from): Payments.Dispute => ({
    id: from.id,
    intentId: idOf(from.payment_intent),
    amountCents: from.amount,
    // An unknown status takes nothing from a tenant.
    status: disputes[from.status] ?? "inquiry"
  })
)

interface Charge extends Pick<Payments.Movement, "id" | "intentId" | "currency" | "customerId" | "attemptId"> {
  readonly capturedCents: number
  readonly isRefunded: boolean
  readonly isDisputed: boolean
  readonly at: number
}

export const charge = decoded(
  Schema.Struct({
    object: Schema.Literal("charge"),
    id: Schema.String,
    amount_captured: Cents,
    amount_refunded: Cents,
    disputed: Schema.Boolean,
    paid: Schema.Boolean,
    created: Schema.Int,
    currency: Schema.String,
    payment_intent: optional(Reference),
    customer: optional(Reference),
    metadata: Metadata
  }),
  (from): Charge => ({
    id: from.id,
    intentId: idOf(from.payment_intent),
    currency: from.currency,
    customerId: idOf(from.customer),
    attemptId: from.metadata?.["attempt"] ?? null,
    capturedCents: from.paid ? from.amount_captured : 0,
    isRefunded: from.amount_refunded > 0,
    isDisputed: from.disputed,
    at: from.created * 1000
  })
)

const isSource = Schema.is(
  Schema.Struct({
    object: Schema.Literals(["charge", "refund", "dispute"]),
    id: Schema.String,
    amount: Cents,
    amount_captured: Schema.optional(Cents),
    currency: Schema.String,
    payment_intent: optional(Reference),
    customer: optional(Reference),
    metadata: Metadata
  })
)

/** A balance transaction as the movement of the object that caused it; null: it is no payment's (a payout, a fee). */
export const movement = decoded(
  Schema.Struct({ amount: Schema.Int, created: Schema.Int, source: Schema.optional(Schema.Unknown) }),
  ({ amount, created, source }): Payments.Movement | null =>
    isSource(source)
      ? {
          type: source.object,
          id: source.id,
          intentId: idOf(source.payment_intent),
          // The transaction is in the account's settlement currency; its source is in the currency of the payment. The
          // amount of a charge may be more than what was captured of it.
          amountCents: Math.sign(amount) * (source.amount_captured ?? source.amount),
          currency: source.currency,
          customerId: idOf(source.customer),
          attemptId: source.object === "charge" ? (source.metadata?.["attempt"] ?? null) : null,
          at: created * 1000
        }
      : null
)

const Event = Schema.Struct({
  object: Schema.Literal("event"),
  id: Schema.String.check(Schema.isPattern(/^evt_[A-Za-z0-9_]{1,250}$/u)),
  type: Schema.String.check(Schema.isMaxLength(100)),
  data: Schema.Struct({
    object: Schema.Struct({
      object: optional(Schema.String),
      id: optional(Schema.String.check(Schema.isMaxLength(255))),
      payment_intent: optional(Reference)
    })
  })
})

/** Null: the body is no event. */
export const event = (body: unknown): Payments.ProcessorEvent | null => {
  const read = Schema.decodeUnknownResult(Event)(body)
  if (Result.isFailure(read)) return null
  const { data, id, type } = read.success
  return { id, type, subject: subjectOf(data.object) }
}

const subjectOf = (object: (typeof Event.Type)["data"]["object"]): Payments.Subject | null => {
  const intentId = idOf(object.payment_intent)
  switch (object.object) {
    case "payment_intent":
      return object.id == null ? null : { type: "intent", id: object.id }
    case "dispute":
      return object.id == null ? null : { type: "dispute", id: object.id }
    case "refund":
    case "charge":
      return intentId === null ? null : { type: "refunds", id: intentId }
    default:
      return null
  }
}

/** The parts of a failed request's error that are used. */
const Failure = Schema.Struct({
  type: Schema.String,
  statusCode: optional(Schema.Int),
  code: optional(Schema.String),
  decline_code: optional(Schema.String),
  advice_code: optional(Schema.String),
  message: optional(Schema.String),
  /** The parameter that is wrong. */
  param: optional(Schema.String),
  payment_intent: Schema.optional(Schema.Unknown)
})
export type Failure = typeof Failure.Type

/** Null: the error is not the SDK's. */
export const failure = (error: unknown): Failure | null => {
  const read = Schema.decodeUnknownResult(Failure)(error)
  return Result.isSuccess(read) ? read.success : null
}

/** An intent that came with an error is declined by that error. */
export const declined = (failed: Failure): Effect.Effect<Payments.Intent, Payments.PaymentError> =>
  Effect.map(intent(failed.payment_intent), (of) => ({ ...of, decline: of.decline ?? declineOf(failed) }))
