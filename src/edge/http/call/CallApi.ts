import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { CallStatus, Call, MachineDetection, MediaStream, Connect, CallVerbs } from "../../../telephony/call/Call.ts"
import { View as Transcription } from "../../../telephony/transcription/Transcription.ts"
import { E164 } from "../../../domain/E164.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as VerbEndpoints from "../VerbEndpoints.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as CallBodies from "./CallBodies.ts"

/** Calls and their verbs. */

const params = { id: PathId.prefixed("call").annotate({ description: "The call." }) }

const actions = VerbEndpoints.make({
  verbs: CallVerbs,
  path: (verb) => `/v1/calls/:id/actions/${verb}`,
  params,
  success: Call,
  errors: ["call_already_ended", "call_not_in_required_state"]
})

const place = HttpApiEndpoint.post("place", "/v1/calls", {
  payload: CallBodies.PlaceCall,
  success: Call.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Place an outbound call",
    description: "Answers as soon as the call is durable; what the carrier says afterwards is an event.",
    scope: "calls:write",
    errors: ["not_found", "unprocessable", "caller_id_forwarding_not_allowed", ...Connect.dialErrors]
  })
)

const filters = {
  status: Schema.optionalKey(CallStatus.annotate({ description: "Only with this status." })),
  direction: Schema.optionalKey(
    Schema.Literals(["inbound", "outbound"]).annotate({ description: "Only in this direction." })
  ),
  fromNumber: Schema.optionalKey(E164.annotate({ description: "Only from this number, E.164." })),
  toNumber: Schema.optionalKey(E164.annotate({ description: "Only to this number, E.164." })),
  initiatedAfterMs: Schema.optionalKey(Query.timestamp("Only calls initiated after this moment."))
}
const filterNames = { initiatedAfterMs: "initiated_after" } as const

const file = HttpApiEndpoint.get("file", "/v1/calls.csv", {
  query: Wire.struct(filters, filterNames),
  success: Schema.String.annotate({
    description: "A header, then a record for each call with the fields of `Call` except `legs` and `recordings`."
  }).pipe(HttpApiSchema.asText({ contentType: "text/csv" }))
}).annotateMerge(
  about({
    summary: "Export calls as CSV",
    description: "All that the filters leave, the newest first, in one file.",
    scope: "calls:read"
  })
)

const list = HttpApiEndpoint.get("list", "/v1/calls", {
  query: Wire.struct({ ...filters, ...Pagination.parameters }, filterNames),
  success: Pagination.envelope(Call)
}).annotateMerge(
  about({
    summary: "List calls",
    description: "Newest first; `legs` and `recordings` are empty.",
    scope: "calls:read"
  })
)

const streamings = HttpApiEndpoint.get("streamings", "/v1/calls/:id/streamings", {
  params,
  query: Pagination.query,
  success: Pagination.envelope(MediaStream)
}).annotateMerge(
  about({
    summary: "List the active media streams of a call",
    description: "There is one at most; those that have ended are told by their events.",
    scope: "calls:read"
  })
)

const amd = HttpApiEndpoint.get("amd", "/v1/calls/:id/amd", { params, success: MachineDetection }).annotateMerge(
  about({
    summary: "The result of machine detection",
    description: "404 for a call that was not placed with it.",
    scope: "calls:read"
  })
)

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/calls/:id", { params, success: Call }).annotateMerge(
  about({ summary: "Retrieve a call", scope: "calls:read" })
)

const transcription = HttpApiEndpoint.get("transcription", "/v1/calls/:id/transcription", {
  params,
  success: Transcription
}).annotateMerge(
  about({
    summary: "Retrieve the transcript",
    description: "The call's newest session, with what has been said so far; also after the call.",
    scope: "calls:read"
  })
)

export class CallApi extends HttpApiGroup.make("calls")
  .add(place, list, file, retrieve, ...actions, streamings, transcription, amd)
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({ title: "Calls", description: "Outbound and inbound calls, and their control." })
  ) {}
