import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Wire from "../../../domain/schema/Wire.ts"
import { FundingView } from "../../../money/funding/Funding.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about, noBody } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import { LimitedBy, Public } from "../Public.ts"

/** Cards and top-ups, guide/money.md#top-ups. A suspended tenant can pay. */

const params = { id: PathId.prefixed("pm").annotate({ description: "The card." }) }

const methodId = (description: string) =>
  Wire.absentIs(null, Schema.NullOr(PathId.prefixed("pm")).annotate({ description, examples: [null] }))

const list = HttpApiEndpoint.get("list", "/v1/billing/payment-methods", {
  query: Pagination.query,
  success: Pagination.envelope(FundingView.PaymentMethod)
}).annotateMerge(
  about({ summary: "List saved cards", description: "Newest first.", scope: "billing:read", servesSuspended: true })
)

const setup = HttpApiEndpoint.post("setup", "/v1/billing/payment-methods/setup", {
  payload: noBody,
  success: FundingView.CardSetup.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Begin to save a card",
    description:
      "The processor's script on your page takes the card's number, which never comes here, and gives the id for `POST /v1/billing/payment-methods`.",
    scope: "billing:write",
    servesSuspended: true,
    errors: ["upstream_error"]
  })
)

const save = HttpApiEndpoint.post("save", "/v1/billing/payment-methods", {
  payload: Wire.struct({
    processorPaymentMethodId: Schema.String.check(
      Schema.isPattern(/^pm_[A-Za-z0-9_]{1,250}$/u, { message: "must be a payment method of the processor, pm_…" })
    ).annotate({ description: "Of the processor.", examples: ["pm_card_visa"] }),
    setDefault: Schema.Boolean.annotate({
      description: "Whether it is charged where none is named; the first card always is. Without it true."
    }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(true)))
  }).pipe(Schema.annotateEncoded({ identifier: "SavePaymentMethod" })),
  success: FundingView.PaymentMethod.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Save a card",
    description: "A card that is saved already is answered as it is.",
    scope: "billing:write",
    servesSuspended: true,
    errors: ["payment_failed", "conflict", "upstream_error"]
  })
)

const update = HttpApiEndpoint.patch("update", "/v1/billing/payment-methods/:id", {
  params,
  payload: Wire.struct({
    isDefault: Schema.Literal(true).annotate({
      description: "Only true: another card takes it away.",
      examples: [true]
    })
  }).pipe(Schema.annotateEncoded({ identifier: "UpdatePaymentMethod" })),
  success: FundingView.PaymentMethod
}).annotateMerge(about({ summary: "Make a card the default", scope: "billing:write", servesSuspended: true }))

const remove = HttpApiEndpoint.delete("remove", "/v1/billing/payment-methods/:id", {
  params,
  success: HttpApiSchema.NoContent
}).annotateMerge(
  about({
    summary: "Delete a card",
    description:
      "409 while auto-recharge or a payment uses it. When it was the default one, the newest of the others is from then on.",
    scope: "billing:write",
    servesSuspended: true,
    errors: ["conflict"]
  })
)

const topUp = HttpApiEndpoint.post("topup", "/v1/billing/topup", {
  payload: Wire.struct({
    amountCents: Schema.Int.annotate({
      description: "US cents; 1000 to 500000 where the operator says nothing else.",
      examples: [2000]
    }),
    paymentMethodId: methodId("The card; null: the default one.")
  }).pipe(Schema.annotateEncoded({ identifier: "RequestTopUp" })),
  success: FundingView.TopUp.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Top up the balance",
    description:
      "Charges a saved card once for each request; send an Idempotency-Key, so that a repetition is no second one. `pending` where the processor has not told the outcome, or the cardholder has to confirm it.",
    scope: "billing:write",
    servesSuspended: true,
    errors: ["topup_amount_too_low", "payment_method_required", "payment_failed", "conflict"]
  })
)

const retrieveRecharge = HttpApiEndpoint.get("retrieve_auto_recharge", "/v1/billing/auto-recharge", {
  success: FundingView.AutoRecharge
}).annotateMerge(about({ summary: "Retrieve auto-recharge", scope: "billing:read", servesSuspended: true }))

const cents = (description: string, example: number) =>
  Wire.absentIs(
    null,
    Schema.NullOr(Schema.Int).annotate({ description: `${description} US cents.`, examples: [example] })
  )

const setRecharge = HttpApiEndpoint.put("set_auto_recharge", "/v1/billing/auto-recharge", {
  payload: Wire.struct({
    enabled: Schema.Boolean.annotate({ description: "Whether the card is charged by itself.", examples: [true] }),
    autoRechargeThresholdCents: Wire.absentIs(
      null,
      Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000_000 }))).annotate({
        description: "A balance at or below this is topped up. US cents.",
        examples: [500]
      })
    ),
    autoRechargeAmountCents: cents("By so much, as much as a top-up may be.", 2000),
    paymentMethodId: methodId("The card; null: the default one.")
  }).pipe(Schema.annotateEncoded({ identifier: "SetAutoRecharge" })),
  success: FundingView.AutoRecharge
}).annotateMerge(
  about({
    summary: "Set auto-recharge",
    description: "As a whole. Enabling it needs a threshold, an amount and a card, and forgets declines.",
    scope: "billing:write",
    servesSuspended: true,
    errors: ["topup_amount_too_low", "payment_method_required"]
  })
)

export class PaymentApi extends HttpApiGroup.make("payments")
  .add(list, setup, save, update, remove, topUp, retrieveRecharge, setRecharge)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Payments", description: "Cards, top-ups and auto-recharge." })) {}

const stripe = HttpApiEndpoint.post("stripe", "/v1/billing/webhooks/stripe", {
  success: Schema.Struct({
    received: Schema.Literal(true).annotate({ description: "It is kept.", examples: [true] })
  }).annotate({
    identifier: "EventReceived"
  })
})
  .annotate(LimitedBy, ["billing_webhook"])
  .annotateMerge(
    about({
      summary: "Take an event of the card processor",
      description:
        "For Stripe, with its `Stripe-Signature`. The body is read as it comes; what the event is about is fetched again.",
      scope: null,
      bodyBytes: 256 * 1024,
      errors: ["invalid_request"]
    })
  )

export class ProcessorApi extends HttpApiGroup.make("processor_events")
  .add(stripe)
  .middleware(Public)
  .annotateMerge(
    OpenApi.annotations({ title: "Card processor", description: "What the card processor tells; signed by it." })
  ) {}
