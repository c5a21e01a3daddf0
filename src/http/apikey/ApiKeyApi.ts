import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKey, CreatedApiKey } from "../../apikey/ApiKeyView.ts"
import { Authenticated } from "../Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../Pagination.ts"
import * as PathId from "../PathId.ts"
import * as Query from "../Query.ts"
import * as Text from "../Text.ts"

/** API keys, guide/authentication.md#keys. */

const params = { id: PathId.uuid }

export const CreateApiKey = Schema.Struct({
  name: Text.of(1, 120),
  scopes: Schema.Array(Text.of(0, 64))
    .check(Schema.isMaxLength(100))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(["*"]))),
  expires_at: Schema.optionalKey(Schema.NullOr(Query.timestamp))
}).annotate({ identifier: "CreateApiKey" })

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
  query: { ...Pagination.parameters },
  success: Pagination.envelope(ApiKey)
}).annotateMerge(
  about({
    summary: "List API keys",
    description: "Newest first; revoked keys stay listed.",
    scope: "api_keys:read",
    refusals: ["not_found"]
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
