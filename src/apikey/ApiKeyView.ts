import { Schema } from "effect"
import * as Field from "../domain/Field.ts"
import { ApiKeyId } from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"

/** An API key, guide/authentication.md#keys. The secret is in no view but that of its creation. */
export const ApiKey = Schema.Struct({
  id: Field.uuid(ApiKeyId, "The key's record, as paths name it."),
  name: Field.text("As given.", "billing export"),
  prefix: Field.text("The first characters of the key; safe to show.", "svc_live_q1w2e3r"),
  scopes: Field.texts("What the key may do; `*` is all.", ["calls:read", "calls:write"]),
  last_used_at: Field.momentOrNull("Within a minute; null: never used."),
  last_used_ip: Field.textOrNull("The address that used it last.", null),
  expires_at: Field.momentOrNull("Null: never.", "2027-01-01T00:00:00.000Z"),
  revoked_at: Field.momentOrNull("Null: not revoked."),
  created_at: Field.moment("When it was created.")
}).annotate({ identifier: "ApiKey" })
export type ApiKeyView = typeof ApiKey.Type

export const CreatedApiKey = Schema.Struct({
  ...ApiKey.fields,
  api_key_plaintext: Field.text("The key itself; shown here only.", "svc_live_…")
}).annotate({ identifier: "CreatedApiKey", description: "The only answer that holds the secret." })

/** Times in epoch milliseconds. */
export interface ApiKeyRow {
  readonly id: ApiKeyId
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
