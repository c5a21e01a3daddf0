import { Layer } from "effect"
import type { PaymentConfig } from "../boot/config/PaymentConfig.ts"
import * as NodeOperatorEgress from "../../ports/egress/node/NodeOperatorEgress.ts"
import * as DevelopmentPayments from "../../ports/payment/development/DevelopmentPayments.ts"
import * as StripePayments from "../../ports/payment/stripe/StripePayments.ts"

/** Charges cards by Stripe when its keys are configured, and otherwise by the development processor. */
export const layer = ({ stripe }: Pick<PaymentConfig, "stripe">) =>
  stripe === null
    ? DevelopmentPayments.layer
    : StripePayments.layer(stripe).pipe(Layer.provide(NodeOperatorEgress.layer()))
