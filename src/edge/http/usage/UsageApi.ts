import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Wire from "../../../domain/schema/Wire.ts"
import { groupings, UsageReport } from "../../../money/usage/Usage.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Query from "../request/Query.ts"

/** Usage, guide/money.md#usage. */

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/usage", {
  query: Wire.struct(
    {
      startMs: Schema.optionalKey(Query.timestamp("From this moment on; else from the first of this month, UTC.")),
      endMs: Schema.optionalKey(
        Query.timestamp("Up to this moment, at most 92 days later; else up to the end of this month, UTC.")
      ),
      groupBy: Schema.optionalKey(
        Schema.Literals(groupings).annotate({ description: "What `results` are told apart by; `none` by default." })
      )
    },
    { startMs: "start", endMs: "end" }
  ),
  success: UsageReport
}).annotateMerge(
  about({
    summary: "Retrieve usage",
    description: "A call counts when it ended, a charge when it was debited. Parts of days are exact.",
    scope: "usage:read"
  })
)

export class UsageApi extends HttpApiGroup.make("usage")
  .add(retrieve)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Usage", description: "What was used, and what it cost." })) {}
