import { HttpApiGroup, OpenApi } from "effect/http-api"
import { View } from "../../../telephony/recording/Recording.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as PathId from "../request/PathId.ts"
import { only } from "../../../domain/schema/RequestField.ts"

/** Recordings whose outcome is known. */

const { get, list, remove } = endpoints({ reads: "calls:read", writes: "calls:write" })

const params = { id: PathId.prefixed("rec").annotate({ description: "The recording." }) }

export class RecordingApi extends HttpApiGroup.make("recordings")
  .add(
    list("list", "/v1/recordings", "List recordings", View, {
      filters: { callId: only(PathId.filter("call"), "Only of this call.") },
      description: "Newest first, whatever became of them; `download_url` is null where there is no file."
    }),
    get("retrieve", "/v1/recordings/:id", "Retrieve a recording", {
      params,
      success: View,
      description: "With a fresh `download_url`.",
      errors: ["recording_not_ready"]
    }),
    remove("remove", "/v1/recordings/:id", "Delete a recording", {
      params,
      description: "Its file goes too, and links to it lead nowhere from now on."
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Recordings", description: "Recordings of calls, and their files." })) {}
