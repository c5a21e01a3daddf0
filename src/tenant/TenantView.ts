import { Schema } from "effect"
import * as Timestamp from "../domain/Timestamp.ts"

const OrNull = Schema.NullOr

/** The `tenant` object of `GET /v1/account`, guide/tenants.md#the-account. */
export const Tenant = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  slug: Schema.String,
  status: Schema.Literals(["active", "suspended", "closed"]),
  suspension_reason: OrNull(Schema.Literals(["email_unverified", "operator", "fraud_review"])),
  currency: Schema.Literal("USD"),
  webhook_failover_url: OrNull(Schema.String),
  created_at: Schema.String,
  updated_at: Schema.String
}).annotate({ identifier: "Tenant" })
export type TenantView = typeof Tenant.Type

const TenantRef = Schema.Struct({ id: Schema.String, name: Schema.String, status: Tenant.fields.status })

/** Answer of `POST /v1/signup`, guide/tenants.md#signup. */
export const SignedUp = Schema.Struct({
  tenant: TenantRef,
  user: Schema.Struct({
    id: Schema.String,
    email: Schema.String,
    first_name: Schema.String,
    last_name: Schema.String,
    role: Schema.Literal("owner"),
    email_verified: Schema.Boolean
  }),
  api_key: Schema.Struct({ id: Schema.String, prefix: Schema.String, scopes: Schema.Array(Schema.String) }),
  api_key_plaintext: Schema.String,
  verification_email_sent: Schema.Boolean,
  verification_expires_at: Schema.String,
  webhook_failover_secret_plaintext: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "SignedUp", description: "The only answer that holds the key and the failover secret" })

/** Answer of `POST /v1/auth/verify-email`. */
export const Verified = Schema.Struct({ email_verified: Schema.Literal(true), tenant: TenantRef }).annotate({
  identifier: "EmailVerified"
})

/** Answer of `PATCH /v1/account`: a new secret with each URL, guide/webhooks.md#failover. */
export const FailoverChanged = Schema.Struct({
  webhook_failover_url: OrNull(Schema.String),
  webhook_failover_secret_plaintext: OrNull(Schema.String)
}).annotate({ identifier: "FailoverChanged", description: "The only answer that holds the new secret" })

/** Times in epoch milliseconds. */
export interface TenantRow {
  readonly id: string
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
