import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Wire from "../../../domain/schema/Wire.ts"
import { View } from "../../../telephony/recording/Recording.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"

/** Recordings whose outcome is known. */

const params = { id: PathId.prefixed("rec").annotate({ description: "The recording." }) }

const list = HttpApiEndpoint.get("list", "/v1/recordings", {
  query: Wire.struct({
    callId: Schema.optionalKey(PathId.filter("call").annotate({ description: "Only of this call." })),
    ...Pagination.parameters
  }),
  success: Pagination.envelope(View)
}).annotateMerge(
  about({
    summary: "List recordings",
    description: "Newest first, whatever became of them; `download_url` is null where there is no file.",
    scope: "calls:read"
  })
)

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/recordings/:id", { params, success: View }).annotateMerge(
  about({
    summary: "Retrieve a recording",
    description: "With a fresh `download_url`.",
    scope: "calls:read",
    errors: ["recording_not_ready"]
  })
)

const remove = HttpApiEndpoint.delete("remove", "/v1/recordings/:id", {
  params,
  success: HttpApiSchema.NoContent
}).annotateMerge(
  about({
    summary: "Delete a recording",
    description: "Its file goes too, and links to it lead nowhere from now on.",
    scope: "calls:write"
  })
)

export class RecordingApi extends HttpApiGroup.make("recordings")
  .add(list, retrieve, remove)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Recordings", description: "Recordings of calls, and their files." })) {}
