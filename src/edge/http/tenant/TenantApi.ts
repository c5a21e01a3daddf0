import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { SignedUp, Verified } from "../../../tenancy/tenant/Tenant.ts"
import * as Name from "../../../domain/schema/Name.ts"
import * as EmailAddressField from "../../../domain/schema/EmailAddressField.ts"
import * as EarlierAccessField from "../request/EarlierAccessField.ts"
import { endpoints } from "../Endpoint.ts"
import { LimitedBy, Public } from "../Public.ts"
import * as Text from "../request/Text.ts"
import { body, nullable, of } from "../../../domain/schema/RequestField.ts"

/** Signup and verification of the e-mail, guide/tenants.md: no key, but limited. */

const { post } = endpoints({ reads: null, writes: null })

const email = EmailAddressField.schema("Of the first member.")

const Signup = body("Signup", {
  email,
  password: of(Text.of(10, 128), "Kept as a hash.", "correct horse battery"),
  tenantName: of(Name.of(120), "Of the workspace.", "Acme"),
  firstName: of(Name.of(120), "Of the first member.", "Ada"),
  lastName: of(Name.of(120), "Of the first member.", "Lovelace"),
  legalName: nullable(Text.of(0, 200).check(Name.isVisible), "Of the company.", "Acme Inc."),
  country: nullable(Text.country, "ISO 3166-1 alpha-2, in either case.", "US"),
  companySize: Text.optional(120, "In words.", "11-50"),
  industry: Text.optional(120, "In words.", "retail"),
  useCase: Text.optional(1_000, "What the calls are for.", "delivery notices"),
  webhookFailoverUrl: nullable(
    Text.httpsUrl("", "https://example.com/failover"),
    "Gets the events that no subscription takes. HTTPS only; no user name, no private address.",
    "https://example.com/failover"
  ),
  invitationToken: nullable(
    Text.of(1, 128),
    "From the operator's invitation; works once, for its address. Needed where sign-up is by invitation.",
    "Yk3TQd0s7bXo"
  )
})

export class TenantApi extends HttpApiGroup.make("tenants")
  .add(
    post("signup", "/v1/signup", "Sign up a tenant", {
      payload: Signup,
      success: SignedUp.pipe(HttpApiSchema.status(201)),
      description: "An Idempotency-Key is honoured, namespaced by the e-mail.",
      idempotent: true,
      errors: ["conflict", "invalid_target_url", "forbidden"]
    }).annotate(LimitedBy, ["signup"]),
    post("verify", "/v1/auth/verify-email", "Verify the owner's e-mail address", {
      payload: body("VerifyEmail", {
        token: of(Text.of(1, 128), "From the link in the mail; works once.", "Yk3TQd0s7bXo"),
        endEarlierAccess: EarlierAccessField.ofConfirmation
      }),
      success: Verified
    }).annotate(LimitedBy, ["verify_email"]),
    post("resend", "/v1/auth/verify-email/resend", "Send the verification mail again", {
      payload: Schema.Struct({ email }).annotate({ identifier: "ResendVerification" }),
      success: Schema.Struct({})
        .annotate({ identifier: "Accepted", description: "Nothing more is told." })
        .pipe(HttpApiSchema.status(202)),
      description: "The answer does not tell whether the address is known.",
      example: { response: {} }
    }).annotate(LimitedBy, ["resend_by_ip"])
  )
  .middleware(Public)
  .annotateMerge(OpenApi.annotations({ title: "Signup", description: "Needs no key; limited by address." })) {}
