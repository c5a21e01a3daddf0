import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import { ApiKeyId, TenantId, UserId } from "../../domain/Id.ts"

const statuses = ["active", "suspended", "closed"] as const

const fields = {
  id: Field.uuid(TenantId, "The workspace."),
  name: Field.text("As given at signup.", "Acme"),
  slug: Field.text("The name as the operator's commands take it; unique.", "acme"),
  status: Field.oneOf("A suspended workspace sees its account, and nothing else.", statuses),
  suspensionReason: Field.oneOfOrNull("Null unless suspended.", ["email_unverified", "operator", "fraud_review"]),
  currency: Schema.Literal("USD").annotate({ description: "Of every amount." }),
  webhookFailoverUrl: Field.textOrNull(
    "Gets the events that no subscription took; null: none.",
    "https://example.com/failover"
  ),
  createdAt: Field.time("When the workspace signed up."),
  updatedAt: Field.time("When one of these fields changed last.")
}

/** The `tenant` object of `GET /v1/account`, guide/tenants.md#the-account. */
export const Tenant = Wire.struct(fields).pipe(
  Schema.annotateEncoded({ identifier: "Tenant", description: "A workspace." })
)
/** Times are epoch milliseconds. */
export type TenantRow = Omit<typeof Tenant.Type, "currency">
export type TenantView = typeof Tenant.Encoded

const encode = Wire.encoder(Tenant)
export const view = (row: TenantRow): TenantView => encode({ ...row, currency: "USD" })

const TenantRef = Wire.struct({
  id: fields.id,
  name: fields.name,
  status: fields.status
}).pipe(Schema.annotateEncoded({ description: "The workspace." }))

const failoverSecret = "Signs what goes to the failover URL; shown here only."
const exampleSecret = "whsec_…"

/** Answer of `POST /v1/signup`, guide/tenants.md#signup. */
export const SignedUp = Wire.struct({
  tenant: TenantRef,
  user: Wire.struct({
    id: Field.uuid(UserId, "The member."),
    email: Field.text("As given.", "ada@example.com"),
    firstName: Field.text("As given.", "Ada"),
    lastName: Field.text("As given.", "Lovelace"),
    role: Schema.Literal("owner").annotate({ description: "The first member owns the workspace." }),
    emailVerified: Field.flag("False until the link in the mail was used.", false)
  }).pipe(Schema.annotateEncoded({ description: "The workspace's first member." })),
  apiKey: Wire.struct({
    id: Field.uuid(ApiKeyId, "The key's record."),
    prefix: Field.text("The first characters of the key; safe to show.", "svc_live_q1w2e3r"),
    scopes: Field.texts("What the key may do.", ["*"])
  }).pipe(Schema.annotateEncoded({ description: "The workspace's first API key." })),
  apiKeyPlaintext: Field.text("The key itself; shown here only.", "svc_live_…"),
  verificationEmailSent: Field.flag(
    "Whether the mail with the link is sent. False: there were too many to this address; ask again later.",
    true
  ),
  verificationExpiresAt: Field.time("Until when the link works.", "2026-01-08T00:00:00.000Z"),
  webhookFailoverSecretPlaintext: Schema.optionalKey(
    Field.text(`Only with a failover URL. ${failoverSecret}`, exampleSecret)
  )
}).pipe(
  Schema.annotateEncoded({
    identifier: "SignedUp",
    description: "The only answer that holds the key and the failover secret."
  })
)

export const signedUp = Wire.encoder(SignedUp)

/** Answer of `POST /v1/auth/verify-email`. */
export const Verified = Wire.struct({
  emailVerified: Schema.Literal(true).annotate({ description: "The address is verified." }),
  tenant: TenantRef
}).pipe(Schema.annotateEncoded({ identifier: "EmailVerified" }))

export const verified = Wire.encoder(Verified)

/** Answer of `PATCH /v1/account`: a new secret with each URL, guide/webhooks.md#failover. */
export const FailoverChanged = Wire.struct({
  webhookFailoverUrl: fields.webhookFailoverUrl,
  webhookFailoverSecretPlaintext: Field.textOrNull(`Null without a URL. ${failoverSecret}`, exampleSecret)
}).pipe(
  Schema.annotateEncoded({ identifier: "FailoverChanged", description: "The only answer that holds the new secret." })
)

export const failoverChanged = Wire.encoder(FailoverChanged)
