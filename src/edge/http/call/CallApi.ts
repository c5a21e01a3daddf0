import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { CallStatus, Call, MachineDetection, MediaStream, Connect, CallVerbs } from "../../../telephony/call/Call.ts"
import { View as Transcription } from "../../../telephony/transcription/Transcription.ts"
import { KeptE164 } from "../../../domain/E164.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as VerbEndpoints from "../VerbEndpoints.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"
import * as CallBodies from "./CallBodies.ts"
import { only } from "../../../domain/schema/RequestField.ts"

/** Calls and their verbs. */

const { get, list, post } = endpoints({ reads: "calls:read", writes: "calls:write" })

const params = { id: PathId.prefixed("call").annotate({ description: "The call." }) }

const actions = VerbEndpoints.make({
  verbs: CallVerbs,
  path: (verb) => `/v1/calls/:id/actions/${verb}`,
  params,
  success: Call,
  errors: ["call_already_ended", "call_not_in_required_state"]
})

const filters = {
  status: only(CallStatus, "Only with this status."),
  direction: only(Schema.Literals(["inbound", "outbound"]), "Only in this direction."),
  fromNumber: only(KeptE164, "Only from this number, E.164."),
  toNumber: only(KeptE164, "Only to this number, E.164."),
  customerReference: only(Text.of(0, 128), "Only with this reference of yours."),
  initiatedAfterMs: Schema.optionalKey(Query.timestamp("Only calls initiated after this moment."))
}
const filterNames = { initiatedAfterMs: "initiated_after" } as const

export class CallApi extends HttpApiGroup.make("calls")
  .add(
    post("place", "/v1/calls", "Place an outbound call", {
      payload: CallBodies.PlaceCall,
      success: Call.pipe(HttpApiSchema.status(201)),
      description: "Answers as soon as the call is durable; what the carrier says afterwards is an event.",
      errors: ["not_found", "unprocessable", "caller_id_forwarding_not_allowed", ...Connect.dialErrors]
    }),
    list("list", "/v1/calls", "List calls", Call, {
      filters,
      names: filterNames,
      description:
        "Newest first; `legs`, `recordings` and `diversion` are empty, and `caller_name`, `attestation` and `why` null."
    }),
    get("file", "/v1/calls.csv", "Export calls as CSV", {
      query: Wire.struct(filters, filterNames),
      success: Schema.String.annotate({
        description:
          "A header, then a record for each call with the fields of `Call` that a list fills, and `destination`, " +
          "`rate_micro_usd_per_minute`, `increments` and `billed_seconds`."
      }).pipe(HttpApiSchema.asText({ contentType: "text/csv" })),
      description: "All that the filters leave, the newest first, in one file."
    }),
    get("retrieve", "/v1/calls/:id", "Retrieve a call", { params, success: Call }),
    ...actions,
    list("streamings", "/v1/calls/:id/streamings", "List the active media streams of a call", MediaStream, {
      params,
      description: "There is one at most; those that have ended are told by their events."
    }),
    get("transcription", "/v1/calls/:id/transcription", "Retrieve the transcript", {
      params,
      success: Transcription,
      description: "The call's newest session, with what has been said so far; also after the call."
    }),
    get("amd", "/v1/calls/:id/amd", "The result of machine detection", {
      params,
      success: MachineDetection,
      description: "404 for a call that was not placed with it."
    })
  )
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({ title: "Calls", description: "Outbound and inbound calls, and their control." })
  ) {}
