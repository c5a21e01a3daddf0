import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ApiKeys } from "../../../tenancy/apikey/ApiKey.ts"
import { Api } from "../Api.ts"
import { list, read, write } from "../Handler.ts"
import { Authenticator } from "../request/Authenticator.ts"

export const layer = HttpApiBuilder.group(Api, "api_keys", (handlers) =>
  Effect.map(ApiKeys, (keys) =>
    handlers.handleAll({
      create: write((caller, { payload }, slot) => keys.create(caller, payload, slot)),
      list: list(keys.list),
      retrieve: read((tenantId, { params }) => keys.find(tenantId, params.id)),
      revoke: write((caller, { params }, slot) => keys.revoke(caller, params.id, slot))
    })
  )
)

/** Implements the edge's port with the keys. */
export const authenticator = Layer.effect(
  Authenticator,
  Effect.map(ApiKeys, ({ authenticate, tenantStatus }) => Authenticator.of({ authenticate, tenantStatus }))
)
