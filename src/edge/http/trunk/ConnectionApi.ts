import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Connection } from "../../../numbers/trunk/Trunk.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as PathId from "../request/PathId.ts"

/** Connections, guide/connections.md#routes, which `route_id` and `connection_id` name. */

const { get, list } = endpoints({ reads: "connection:read", writes: null })

export class ConnectionApi extends HttpApiGroup.make("connections")
  .add(
    list("list", "/v1/connections", "List connections", Connection),
    get("retrieve", "/v1/connections/:id", "Retrieve a connection", {
      params: { id: PathId.prefixed("route").annotate({ description: "The connection." }) },
      success: Connection
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Connections", description: "Routes to a carrier." })) {}
