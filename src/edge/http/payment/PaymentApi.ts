import { Effect, Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Wire from "../../../domain/schema/Wire.ts"
import { FundingView } from "../../../money/funding/Funding.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints, noBody } from "../Endpoint.ts"
import * as PathId from "../request/PathId.ts"
import { LimitedBy, Public } from "../Public.ts"
import { body, matching, nullable, of } from "../../../domain/schema/RequestField.ts"

/** Cards and top-ups, guide/money.md#top-ups. A suspended tenant can pay. */

const { get, list, patch, post, put, remove } = endpoints({
  reads: "billing:read",
  writes: "billing:write",
  servesSuspended: true
})

const params = { id: PathId.prefixed("pm").annotate({ description: "The card." }) }

const methodId = (description: string) =>
  Wire.absentIs(null, Schema.NullOr(PathId.prefixed("pm")).annotate({ description, examples: [null] }))

const cents = (description: string, example: number) => nullable(Schema.Int, `${description} US cents.`, example)

export class PaymentApi extends HttpApiGroup.make("payments")
  .add(
    list("list", "/v1/billing/payment-methods", "List saved cards", FundingView.PaymentMethod, {
      description: "Newest first."
    }),
    post("setup", "/v1/billing/payment-methods/setup", "Begin to save a card", {
      payload: noBody,
      success: FundingView.CardSetup.pipe(HttpApiSchema.status(201)),
      description:
        "The processor's script on your page takes the card's number, which never comes here, and gives the id for `POST /v1/billing/payment-methods`.",
      errors: ["rate_limited", "upstream_error"]
    }),
    post("save", "/v1/billing/payment-methods", "Save a card", {
      payload: body("SavePaymentMethod", {
        processorPaymentMethodId: of(
          matching(/^pm_[A-Za-z0-9_]{1,250}$/u, "must be a payment method of the processor, pm_…"),
          "Of the processor.",
          "pm_card_visa"
        ),
        setDefault: Schema.Boolean.annotate({
          description: "Whether it is charged where none is named; the first card always is. Without it true."
        }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(true)))
      }),
      success: FundingView.PaymentMethod.pipe(HttpApiSchema.status(201)),
      description: "A card that is saved already is answered as it is.",
      errors: ["payment_failed", "conflict", "rate_limited", "upstream_error"]
    }),
    patch("update", "/v1/billing/payment-methods/:id", "Make a card the default", {
      params,
      payload: body("UpdatePaymentMethod", {
        isDefault: of(Schema.Literal(true), "Only true: another card takes it away.", true)
      }),
      success: FundingView.PaymentMethod
    }),
    remove("remove", "/v1/billing/payment-methods/:id", "Delete a card", {
      params,
      description:
        "409 while auto-recharge or a payment uses it. When it was the default one, the newest of the others is from then on.",
      errors: ["conflict"]
    }),
    post("topup", "/v1/billing/topup", "Top up the balance", {
      payload: body("RequestTopUp", {
        amountCents: of(Schema.Int, "US cents; 1000 to 500000 where the operator says nothing else.", 2000),
        paymentMethodId: methodId("The card; null: the default one.")
      }),
      success: FundingView.TopUp.pipe(HttpApiSchema.status(201)),
      description:
        "Charges a saved card once for each request; send an Idempotency-Key, so that a repetition is no second one. `pending` where the processor has not told the outcome, or the cardholder has to confirm it.",
      errors: ["topup_amount_too_low", "payment_method_required", "payment_failed", "conflict", "upstream_error"]
    }),
    get("retrieve_auto_recharge", "/v1/billing/auto-recharge", "Retrieve auto-recharge", {
      success: FundingView.AutoRecharge
    }),
    put("set_auto_recharge", "/v1/billing/auto-recharge", "Set auto-recharge", {
      payload: body("SetAutoRecharge", {
        enabled: of(Schema.Boolean, "Whether the card is charged by itself.", true),
        autoRechargeThresholdCents: nullable(
          Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000_000 })),
          "A balance at or below this is topped up. US cents.",
          500
        ),
        autoRechargeAmountCents: cents("By so much, as much as a top-up may be.", 2000),
        paymentMethodId: methodId("The card; null: the default one.")
      }),
      success: FundingView.AutoRecharge,
      description: "As a whole. Enabling it needs a threshold, an amount and a card, and forgets declines.",
      errors: ["topup_amount_too_low", "payment_method_required"]
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Payments", description: "Cards, top-ups and auto-recharge." })) {}

const processor = endpoints({ reads: null, writes: null })

export class ProcessorApi extends HttpApiGroup.make("processor_events")
  .add(
    processor
      .post("stripe", "/v1/billing/webhooks/stripe", "Take an event of the card processor", {
        success: Schema.Struct({
          received: of(Schema.Literal(true), "It is kept.", true)
        }).annotate({ identifier: "EventReceived" }),
        description:
          "For Stripe, with its `Stripe-Signature`. The body is read as it comes; what the event is about is fetched again.",
        bodyBytes: 256 * 1024,
        errors: ["invalid_request"]
      })
      .annotate(LimitedBy, ["billing_webhook"])
  )
  .middleware(Public)
  .annotateMerge(
    OpenApi.annotations({ title: "Card processor", description: "What the card processor tells; signed by it." })
  ) {}
