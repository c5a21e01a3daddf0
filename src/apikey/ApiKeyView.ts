import { Schema } from "effect"
import * as Timestamp from "../domain/Timestamp.ts"

const TimestampOrNull = Schema.NullOr(Schema.String)

/** An API key, guide/authentication.md#keys. The secret is in no view but that of its creation. */
export const ApiKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  scopes: Schema.Array(Schema.String),
  last_used_at: TimestampOrNull,
  last_used_ip: Schema.NullOr(Schema.String),
  expires_at: TimestampOrNull,
  revoked_at: TimestampOrNull,
  created_at: Schema.String
}).annotate({ identifier: "ApiKey" })
export type ApiKeyView = typeof ApiKey.Type

export const CreatedApiKey = Schema.Struct({ ...ApiKey.fields, api_key_plaintext: Schema.String }).annotate({
  identifier: "CreatedApiKey",
  description: "The only answer that holds the secret"
})

/** Times in epoch milliseconds. */
export interface ApiKeyRow {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly scopes: ReadonlyArray<string>
  readonly lastUsedAt: number | null
  readonly lastUsedIp: string | null
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly createdAt: number
}

export const view = (row: ApiKeyRow): ApiKeyView => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  last_used_at: Timestamp.formatOrNull(row.lastUsedAt),
  last_used_ip: row.lastUsedIp,
  expires_at: Timestamp.formatOrNull(row.expiresAt),
  revoked_at: Timestamp.formatOrNull(row.revokedAt),
  created_at: Timestamp.format(row.createdAt)
})
