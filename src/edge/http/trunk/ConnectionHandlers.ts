import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Trunks } from "../../../numbers/trunk/Trunk.ts"
import { Api } from "../Api.ts"
import { list, read } from "../Handler.ts"

export const layer = HttpApiBuilder.group(Api, "connections", (handlers) =>
  Effect.map(Trunks, (connections) =>
    handlers.handleAll({
      list: list(connections.list),
      retrieve: read((tenantId, { params }) => connections.find(tenantId, params.id))
    })
  )
)
