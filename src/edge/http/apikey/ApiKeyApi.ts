import { Effect, Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKey, CreatedApiKey } from "../../../tenancy/apikey/ApiKey.ts"
import { scopes } from "../../../domain/Scope.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as Name from "../../../domain/schema/Name.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"
import { body, nullable, of } from "../../../domain/schema/RequestField.ts"

/** API keys, guide/authentication.md#keys. */

const { get, list, post, remove } = endpoints({ reads: "api_keys:read", writes: "api_keys:write" })

const params = { id: PathId.apiKey.annotate({ description: "The key's record." }) }

const CreateApiKey = body(
  "CreateApiKey",
  {
    name: of(Name.of(120), "To know it by.", "billing export"),
    scopes: Schema.Array(Text.of(0, 64))
      .check(Schema.isMaxLength(100))
      .annotate({
        description: `What the key may do, at most what the calling key may. Of: ${scopes.map((name) => `\`${name}\``).join(", ")}.`,
        examples: [["calls:read", "calls:write"]]
      })
      .pipe(Schema.withDecodingDefaultKey(Effect.succeed(["*"]))),
    expiresAtMs: nullable(
      Query.timestamp("From then on the key is refused; null: never."),
      "From then on the key is refused; null: never. RFC 3339, with `Z` or an offset.",
      null
    )
  },
  { expiresAtMs: "expires_at" }
)

export class ApiKeyApi extends HttpApiGroup.make("api_keys")
  .add(
    post("create", "/v1/api-keys/", "Create an API key", {
      payload: CreateApiKey,
      success: CreatedApiKey.pipe(HttpApiSchema.status(201)),
      description: "Scopes are fixed for the life of the key, and among those of the calling key."
    }),
    list("list", "/v1/api-keys/", "List API keys", ApiKey, { description: "Newest first; revoked keys stay listed." }),
    get("retrieve", "/v1/api-keys/:id/", "Retrieve an API key", { params, success: ApiKey }),
    remove("revoke", "/v1/api-keys/:id/", "Revoke an API key", {
      params,
      scope: "api_keys:revoke",
      description: "For good, and seen by the very next request."
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "API keys", description: "Tenant-scoped bearer keys." })) {}
