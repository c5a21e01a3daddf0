import { Schema } from "effect"
import { LedgerEntry } from "../billing/Billing.ts"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"

/** A saved card, guide/money.md#cards. */
export const PaymentMethod = Wire.struct({
  id: Field.id("pm", "The card here."),
  type: Field.oneOf("What it is.", ["card"]),
  brand: Field.text("Whose card.", "visa"),
  last4: Field.text("The last digits of its number.", "4242"),
  expMonth: Field.count("The month in which it expires.", 12),
  expYear: Field.count("The year in which it expires.", 2034),
  isDefault: Field.flag("Whether it is charged where none is named.", true),
  status: Field.oneOf("`gone`: the processor does not have it any more, so it cannot be charged: save it again.", [
    "active",
    "gone"
  ]),
  createdAt: Field.time("When it was saved.")
}).pipe(Schema.annotateEncoded({ identifier: "PaymentMethod" }))
export type PaymentMethodView = typeof PaymentMethod.Encoded

export type PaymentMethodRow = Omit<typeof PaymentMethod.Type, "type" | "status"> & { readonly goneAt: number | null }

const encodeMethod = Wire.encoder(PaymentMethod)
export const paymentMethod = (row: PaymentMethodRow): PaymentMethodView =>
  encodeMethod({ ...row, type: "card", status: row.goneAt === null ? "active" : "gone" })

/** The data with which a tenant's page saves a card at the processor. */
export const CardSetup = Wire.struct({
  clientSecret: Field.text("For the processor's script on your page; a secret.", "seti_1_secret_2"),
  setupIntentId: Field.text("At the processor.", "seti_1"),
  publishableKey: Field.text("Of the processor, for its script.", "pk_live_1")
}).pipe(Schema.annotateEncoded({ identifier: "CardSetup" }))
export const cardSetup = Wire.encoder(CardSetup)

/** The outcome of a top-up, guide/money.md#top-ups. */
export const TopUp = Wire.struct({
  id: Field.id("ledger", "The ledger entry that it is, or will be."),
  amountCents: Field.cents("What was asked for."),
  balanceCents: Field.signedCents("The balance after it.", 1500),
  paymentMethodId: Field.id("pm", "The card."),
  status: Field.oneOf("`pending`: the processor has not told the outcome yet; the entry is there when it has.", [
    "succeeded",
    "pending"
  ]),
  clientSecret: Field.textOrNull(
    "Set while the cardholder has to confirm the payment on your page, within an hour; a secret.",
    null
  ),
  ledgerEntry: Schema.NullOr(LedgerEntry).annotate({ description: "Null while it is pending." }),
  createdAt: Field.time("When it was asked for.")
}).pipe(Schema.annotateEncoded({ identifier: "TopUp" }))
export const topUp = Wire.encoder(TopUp)

/** The auto-recharge of a tenant, guide/money.md#auto-recharge. */
export const AutoRecharge = Wire.struct({
  enabled: Field.flag("Whether the card is charged by itself.", true),
  autoRechargeThresholdCents: Field.centsOrNull("A balance at or below this is topped up.", 500),
  autoRechargeAmountCents: Field.centsOrNull("By so much.", 2000),
  paymentMethodId: Field.idOrNull("pm", "The card; null: the default one."),
  lastAttemptAt: Field.timeOrNull("When a recharge was last done or declined."),
  lastAttemptStatus: Field.oneOfOrNull("How that ended.", ["succeeded", "failed"]),
  disabledReason: Field.oneOfOrNull("Why the service disabled it; null: it did not.", [
    "declined",
    "authentication_required",
    "do_not_try_again",
    "card_gone"
  ]),
  updatedAt: Field.timeOrNull("When this changed last; null: it was never set.")
}).pipe(Schema.annotateEncoded({ identifier: "AutoRecharge" }))
export type AutoRechargeView = typeof AutoRecharge.Encoded
export const autoRecharge = Wire.encoder(AutoRecharge)
