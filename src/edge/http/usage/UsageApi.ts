import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import * as Wire from "../../../domain/schema/Wire.ts"
import { groupings, UsageReport } from "../../../money/usage/Usage.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as Query from "../request/Query.ts"
import { only } from "../../../domain/schema/RequestField.ts"

/** Usage, guide/money.md#usage. */

const { get } = endpoints({ reads: "usage:read", writes: null })

export class UsageApi extends HttpApiGroup.make("usage")
  .add(
    get("retrieve", "/v1/usage", "Retrieve usage", {
      query: Wire.struct(
        {
          startMs: Schema.optionalKey(Query.timestamp("From this moment on; else from the first of this month, UTC.")),
          endMs: Schema.optionalKey(
            Query.timestamp("Up to this moment, at most 92 days later; else up to the end of this month, UTC.")
          ),
          groupBy: only(Schema.Literals(groupings), "What `results` are told apart by; `none` by default.")
        },
        { startMs: "start", endMs: "end" }
      ),
      success: UsageReport,
      description: "A call counts when it ended, a charge when it was debited. Parts of days are exact."
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Usage", description: "What was used, and what it cost." })) {}
