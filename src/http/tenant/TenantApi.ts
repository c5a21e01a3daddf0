import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { SignedUp, Verified } from "../../tenant/TenantView.ts"
import { about } from "../Endpoint.ts"
import { LimitedBy, Public } from "../Public.ts"
import * as Text from "../Text.ts"

/** Signup and verification of the e-mail, guide/tenants.md: no key, but limited. */

const email = Schema.String.check(
  Schema.isMaxCodePoints(254),
  Schema.isPattern(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+\.[^\s@.\p{Cc}]+$/u, {
    message: "must be an e-mail address"
  })
).annotate({ format: "email" })

export const Signup = Schema.Struct({
  email,
  password: Text.of(10, 128),
  tenant_name: Text.of(1, 120),
  first_name: Text.of(1, 120),
  last_name: Text.of(1, 120),
  legal_name: Text.optional(200),
  country: Schema.optionalKey(Schema.NullOr(Text.country)),
  company_size: Text.optional(120),
  industry: Text.optional(120),
  use_case: Text.optional(1_000),
  webhook_failover_url: Schema.optionalKey(Schema.NullOr(Text.httpsUrl))
}).annotate({ identifier: "Signup" })

const signup = HttpApiEndpoint.post("signup", "/v1/signup", {
  payload: Signup,
  success: SignedUp.pipe(HttpApiSchema.status(201))
})
  .annotate(LimitedBy, ["signup"])
  .annotateMerge(
    about({
      summary: "Sign up a tenant",
      description: "An Idempotency-Key is honoured, namespaced by the e-mail.",
      scope: null,
      refusals: ["conflict", "invalid_target_url", "idempotency_key_too_long", "idempotency_conflict"]
    })
  )

const verify = HttpApiEndpoint.post("verify", "/v1/auth/verify-email", {
  payload: Schema.Struct({ token: Text.of(1, 128) }),
  success: Verified
})
  .annotate(LimitedBy, ["verify_email"])
  .annotateMerge(about({ summary: "Verify the owner's e-mail address", scope: null }))

const resend = HttpApiEndpoint.post("resend", "/v1/auth/verify-email/resend", {
  payload: Schema.Struct({ email }),
  success: Schema.Struct({}).pipe(HttpApiSchema.status(202))
})
  .annotate(LimitedBy, ["resend_by_ip"])
  .annotateMerge(
    about({
      summary: "Send the verification mail again",
      description: "The answer does not tell whether the address is known.",
      scope: null
    })
  )

export class TenantApi extends HttpApiGroup.make("tenants")
  .add(signup, verify, resend)
  .middleware(Public)
  .annotateMerge(OpenApi.annotations({ title: "Signup", description: "Needs no key; limited by address." })) {}
