import type { Redacted } from "effect"
import type { OperatorTarget } from "../../../ports/egress/OperatorTarget.ts"
import * as Environment from "./Environment.ts"

interface Stripe {
  readonly target: OperatorTarget
  readonly secretKey: Redacted.Redacted
  readonly publishableKey: string
  /** Null: events are refused, and outcomes are learned by polling. */
  readonly webhookSecret: Redacted.Redacted | null
}

export interface PaymentConfig {
  /** Null: the development processor is used, which charges nothing. */
  readonly stripe: Stripe | null
  /** The limits of one top-up, in cents. */
  readonly topUp: { readonly minimumCents: number; readonly maximumCents: number }
}

export const read = (env: Environment.Environment): PaymentConfig => {
  const minimumCents = env.integer("TOPUP_MIN_CENTS", 1_000, 50, 99_999_999)
  const maximumCents = env.integer("TOPUP_MAX_CENTS", 500_000, 50, 99_999_999)
  Environment.notBelow("TOPUP_MAX_CENTS", maximumCents, "TOPUP_MIN_CENTS", minimumCents)
  return { stripe: stripe(env), topUp: { minimumCents, maximumCents } }
}

const stripe = (env: Environment.Environment): Stripe | null => {
  const secretKey = env.secret("STRIPE_SECRET_KEY")
  const publishableKey = env.optional("STRIPE_PUBLISHABLE_KEY")
  const webhookSecret = env.secret("STRIPE_WEBHOOK_SECRET")
  if (secretKey === null) {
    const alone =
      publishableKey !== null ? "STRIPE_PUBLISHABLE_KEY" : webhookSecret !== null ? "STRIPE_WEBHOOK_SECRET" : null
    return alone === null ? null : Environment.fail(alone, "needs STRIPE_SECRET_KEY")
  }
  if (publishableKey === null) return Environment.fail("STRIPE_SECRET_KEY", "needs STRIPE_PUBLISHABLE_KEY")
  const target = env.service("STRIPE_URL", ["https:"], {
    otherwise: "https://api.stripe.com",
    authorities: env.file("STRIPE_CA_FILE")
  })
  return target === null ? null : { target, secretKey, publishableKey, webhookSecret }
}
