import { Context, Effect, Layer, Redacted, Result } from "effect"
import * as NodeOperatorEgress from "../../../src/ports/egress/node/NodeOperatorEgress.ts"
import { OperatorTarget } from "../../../src/ports/egress/OperatorTarget.ts"
import * as StripePayments from "../../../src/ports/payment/stripe/StripePayments.ts"
import * as TestCertificate from "../../support/network/TestCertificate.ts"
import * as StripeDouble from "./StripeDouble.ts"

export class Double extends Context.Service<Double, StripeDouble.StripeDouble>()("test/StripeDouble") {}

/** The processor as the service has it with Stripe's keys, over a double that the test can reach too. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const authority = TestCertificate.makeAuthority()
    const double = yield* StripeDouble.start(authority.issue(["127.0.0.1"]))
    const target = OperatorTarget.configured(`https://127.0.0.1:${double.port}`, {
      plain: false,
      authorities: authority.cert
    })
    const payments = StripePayments.layer({
      target: Result.getOrThrow(target),
      secretKey: Redacted.make("sk_test_1"),
      publishableKey: "pk_test_1",
      webhookSecret: Redacted.make(StripeDouble.webhookSecret)
    }).pipe(Layer.provide(NodeOperatorEgress.layer()))
    return Layer.merge(payments, Layer.succeed(Double, double))
  })
)
