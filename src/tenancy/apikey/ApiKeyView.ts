import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import { ApiKeyId, UserId } from "../../domain/Id.ts"

const fields = {
  id: Field.uuid(ApiKeyId, "The key's record, as paths name it."),
  name: Field.text("As given.", "billing export"),
  prefix: Field.text("The first characters of the key; safe to show.", "svc_live_q1w2e3r"),
  scopes: Field.texts("What the key may do; `*` is all.", ["calls:read", "calls:write"]),
  memberId: Field.uuidOrNull(
    UserId,
    "The member whose key it is: it may do what the member's role allows, and dies with the membership. Null: the workspace's own."
  ),
  isLogin: Field.flag("Whether a login made it.", false),
  lastUsedAt: Field.timeOrNull("Within a minute; null: never used."),
  lastUsedIp: Field.textOrNull("The address that used it last.", null),
  expiresAt: Field.timeOrNull("Null: never.", "2027-01-01T00:00:00.000Z"),
  revokedAt: Field.timeOrNull("Null: not revoked."),
  createdAt: Field.time("When it was created.")
}

/** An API key, guide/authentication.md#keys. Only the view of its creation contains the secret. */
export const ApiKey = Wire.struct(fields).pipe(Schema.annotateEncoded({ identifier: "ApiKey" }))
/** Times are epoch milliseconds. */
export type ApiKeyRow = typeof ApiKey.Type
export type ApiKeyView = typeof ApiKey.Encoded

export const view = Wire.encoder(ApiKey)

export const CreatedApiKey = Wire.struct({
  ...fields,
  apiKeyPlaintext: Field.text("The key itself; shown here only.", "svc_live_…")
}).pipe(Schema.annotateEncoded({ identifier: "CreatedApiKey", description: "The only answer that holds the secret." }))

export const created = Wire.encoder(CreatedApiKey)
