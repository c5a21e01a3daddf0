import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKey, CreatedApiKey } from "../../../tenancy/apikey/ApiKey.ts"
import { scopes } from "../../../domain/Scope.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"

/** API keys, guide/authentication.md#keys. */

const params = { id: PathId.apiKey.annotate({ description: "The key's record." }) }

const CreateApiKey = Wire.struct(
  {
    name: Text.of(1, 120).annotate({ description: "To know it by.", examples: ["billing export"] }),
    scopes: Schema.Array(Text.of(0, 64))
      .check(Schema.isMaxLength(100))
      .annotate({
        description: `What the key may do, at most what the calling key may. Of: ${scopes.map((name) => `\`${name}\``).join(", ")}.`,
        examples: [["calls:read", "calls:write"]]
      })
      .pipe(Schema.withDecodingDefaultKey(Effect.succeed(["*"]))),
    expiresAtMs: Wire.absentIs(
      null,
      Schema.NullOr(Query.timestamp("From then on the key is refused; null: never.")).annotate({
        description: "From then on the key is refused; null: never. RFC 3339, with `Z` or an offset.",
        examples: [null]
      })
    )
  },
  { expiresAtMs: "expires_at" }
).pipe(Schema.annotateEncoded({ identifier: "CreateApiKey" }))

const create = HttpApiEndpoint.post("create", "/v1/api-keys/", {
  payload: CreateApiKey,
  success: CreatedApiKey.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Create an API key",
    description: "Scopes are fixed for the life of the key, and among those of the calling key.",
    scope: "api_keys:write"
  })
)

const list = HttpApiEndpoint.get("list", "/v1/api-keys/", {
  query: Pagination.query,
  success: Pagination.envelope(ApiKey)
}).annotateMerge(
  about({
    summary: "List API keys",
    description: "Newest first; revoked keys stay listed.",
    scope: "api_keys:read"
  })
)

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/api-keys/:id/", { params, success: ApiKey }).annotateMerge(
  about({ summary: "Retrieve an API key", scope: "api_keys:read" })
)

const revoke = HttpApiEndpoint.delete("revoke", "/v1/api-keys/:id/", {
  params,
  success: HttpApiSchema.NoContent
}).annotateMerge(
  about({
    summary: "Revoke an API key",
    description: "For good, and seen by the very next request.",
    scope: "api_keys:revoke"
  })
)

export class ApiKeyApi extends HttpApiGroup.make("api_keys")
  .add(create, list, retrieve, revoke)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "API keys", description: "Tenant-scoped bearer keys." })) {}
