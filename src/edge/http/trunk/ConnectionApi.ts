import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Connection } from "../../../numbers/trunk/Trunk.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"

/** Connections, guide/connections.md#routes, which `route_id` and `connection_id` name. */

const list = HttpApiEndpoint.get("list", "/v1/connections", {
  query: Pagination.query,
  success: Pagination.envelope(Connection)
}).annotateMerge(about({ summary: "List connections", scope: "connection:read" }))

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/connections/:id", {
  params: { id: PathId.prefixed("route").annotate({ description: "The connection." }) },
  success: Connection
}).annotateMerge(about({ summary: "Retrieve a connection", scope: "connection:read" }))

export class ConnectionApi extends HttpApiGroup.make("connections")
  .add(list, retrieve)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Connections", description: "Routes to a carrier." })) {}
