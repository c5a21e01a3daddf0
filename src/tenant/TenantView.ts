import { Schema } from "effect"
import * as Field from "../domain/Field.ts"
import { ApiKeyId, TenantId, UserId } from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"

const statuses = ["active", "suspended", "closed"] as const

/** The `tenant` object of `GET /v1/account`, guide/tenants.md#the-account. */
export const Tenant = Schema.Struct({
  id: Field.uuid(TenantId, "The workspace."),
  name: Field.text("As given at signup.", "Acme"),
  slug: Field.text("The name as the operator's commands take it; unique.", "acme"),
  status: Field.oneOf("A suspended workspace sees its account, and nothing else.", statuses),
  suspension_reason: Field.oneOfOrNull("Null unless suspended.", ["email_unverified", "operator", "fraud_review"]),
  currency: Schema.Literal("USD").annotate({ description: "Of every amount." }),
  webhook_failover_url: Field.textOrNull(
    "Gets the events that no subscription took; null: none.",
    "https://example.com/failover"
  ),
  created_at: Field.moment("When the workspace signed up."),
  updated_at: Field.moment("When one of these fields changed last.")
}).annotate({ identifier: "Tenant", description: "A workspace." })
export type TenantView = typeof Tenant.Type

const TenantRef = Schema.Struct({
  id: Tenant.fields.id,
  name: Tenant.fields.name,
  status: Tenant.fields.status
}).annotate({ description: "The workspace." })

const failoverSecret = "Signs what goes to the failover URL; shown here only."
const exampleSecret = "whsec_…"

/** Answer of `POST /v1/signup`, guide/tenants.md#signup. */
export const SignedUp = Schema.Struct({
  tenant: TenantRef,
  user: Schema.Struct({
    id: Field.uuid(UserId, "The member."),
    email: Field.text("As given.", "ada@example.com"),
    first_name: Field.text("As given.", "Ada"),
    last_name: Field.text("As given.", "Lovelace"),
    role: Schema.Literal("owner").annotate({ description: "The first member owns the workspace." }),
    email_verified: Field.flag("False until the link in the mail was used.", false)
  }).annotate({ description: "The workspace's first member." }),
  api_key: Schema.Struct({
    id: Field.uuid(ApiKeyId, "The key's record."),
    prefix: Field.text("The first characters of the key; safe to show.", "svc_live_q1w2e3r"),
    scopes: Field.texts("What the key may do.", ["*"])
  }).annotate({ description: "The workspace's first API key." }),
  api_key_plaintext: Field.text("The key itself; shown here only.", "svc_live_…"),
  verification_email_sent: Field.flag("Whether the mail with the link was sent.", true),
  verification_expires_at: Field.moment("Until when the link works.", "2026-01-08T00:00:00.000Z"),
  webhook_failover_secret_plaintext: Schema.optionalKey(
    Field.text(`Only with a failover URL. ${failoverSecret}`, exampleSecret)
  )
}).annotate({ identifier: "SignedUp", description: "The only answer that holds the key and the failover secret." })

/** Answer of `POST /v1/auth/verify-email`. */
export const Verified = Schema.Struct({
  email_verified: Schema.Literal(true).annotate({ description: "The address is verified." }),
  tenant: TenantRef
}).annotate({ identifier: "EmailVerified" })

/** Answer of `PATCH /v1/account`: a new secret with each URL, guide/webhooks.md#failover. */
export const FailoverChanged = Schema.Struct({
  webhook_failover_url: Tenant.fields.webhook_failover_url,
  webhook_failover_secret_plaintext: Field.textOrNull(`Null without a URL. ${failoverSecret}`, exampleSecret)
}).annotate({ identifier: "FailoverChanged", description: "The only answer that holds the new secret." })

/** Times in epoch milliseconds. */
export interface TenantRow {
  readonly id: TenantId
  readonly name: string
  readonly slug: string
  readonly status: TenantView["status"]
  readonly suspensionReason: TenantView["suspension_reason"]
  readonly failoverUrl: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

export const view = (row: TenantRow): TenantView => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  status: row.status,
  suspension_reason: row.suspensionReason,
  currency: "USD",
  webhook_failover_url: row.failoverUrl,
  created_at: Timestamp.format(row.createdAt),
  updated_at: Timestamp.format(row.updatedAt)
})

export const reference = (row: TenantRow): typeof TenantRef.Type => ({
  id: row.id,
  name: row.name,
  status: row.status
})
