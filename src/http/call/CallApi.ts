import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { CallStatus } from "../../call/CallState.ts"
import { Call } from "../../call/CallView.ts"
import type { Code } from "../../domain/ErrorCatalogue.ts"
import { E164 } from "../../domain/E164.ts"
import { Authenticated } from "../Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../Pagination.ts"
import * as PathId from "../PathId.ts"
import * as Query from "../Query.ts"
import * as CallBodies from "./CallBodies.ts"

/** Calls, spec §4.4. */

const params = { id: PathId.prefixed("call") }

const states: ReadonlyArray<Code> = ["call_already_ended", "call_not_in_required_state"]

/** Verbs whose body may be left out. */
const withOptionalBody = <const Verb extends string, S extends Schema.Top>(verb: Verb, body: S, summary: string) =>
  HttpApiEndpoint.post(verb, `/v1/calls/:id/actions/${verb}`, {
    params,
    payload: [body, Schema.Null],
    success: Call
  }).annotateMerge(about({ summary, scope: "calls:write", refusals: states }))

const withBody = <const Verb extends string, S extends Schema.Top>(verb: Verb, body: S, summary: string) =>
  HttpApiEndpoint.post(verb, `/v1/calls/:id/actions/${verb}`, { params, payload: body, success: Call }).annotateMerge(
    about({ summary, scope: "calls:write", refusals: states })
  )

const notBuilt = { description: "Not built yet: answers 422 `unprocessable`.", refusals: ["unprocessable"] as const }

const unbuiltVerb = <const Verb extends string>(verb: Verb) =>
  HttpApiEndpoint.post(verb, `/v1/calls/:id/actions/${verb}`, { params, success: Call }).annotateMerge(
    about({ summary: verb, scope: "calls:write", ...notBuilt })
  )

const unbuiltPart = <const Part extends string>(part: Part) =>
  HttpApiEndpoint.get(part, `/v1/calls/:id/${part}`, { params, success: Schema.Json }).annotateMerge(
    about({ summary: part, scope: "calls:read", ...notBuilt })
  )

const place = HttpApiEndpoint.post("place", "/v1/calls", {
  payload: CallBodies.PlaceCall,
  success: Call.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Place an outbound call",
    description: "Answers as soon as the call is durable; what the carrier says afterwards is an event.",
    scope: "calls:write",
    refusals: [
      "not_found",
      "unprocessable",
      "caller_id_forwarding_not_allowed",
      "from_number_not_owned",
      "country_blocked",
      "country_not_allowed",
      "prefix_blocked",
      "balance_insufficient",
      "auto_recharge_failed",
      "daily_spend_cap_exceeded",
      "monthly_spend_cap_exceeded",
      "concurrent_call_cap_exceeded"
    ]
  })
)

const list = HttpApiEndpoint.get("list", "/v1/calls", {
  query: {
    status: Schema.optionalKey(CallStatus),
    direction: Schema.optionalKey(Schema.Literals(["inbound", "outbound"])),
    from_number: Schema.optionalKey(E164),
    to_number: Schema.optionalKey(E164),
    initiated_after: Schema.optionalKey(Query.timestamp),
    ...Pagination.parameters
  },
  success: Pagination.envelope(Call)
}).annotateMerge(
  about({
    summary: "List calls",
    description: "Newest first; `legs` and `recordings` are empty.",
    scope: "calls:read",
    refusals: ["not_found"]
  })
)

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/calls/:id", { params, success: Call }).annotateMerge(
  about({ summary: "Retrieve a call", scope: "calls:read" })
)

export class CallApi extends HttpApiGroup.make("calls")
  .add(
    place,
    list,
    retrieve,
    withOptionalBody("answer", CallBodies.Answer, "Answer an inbound call"),
    withBody("reject", CallBodies.Reject, "Reject an inbound call"),
    withOptionalBody("hangup", CallBodies.Nothing, "Hang up"),
    withBody("play", CallBodies.Play, "Play WAV or MP3 audio from a URL"),
    withOptionalBody("stop_playback", CallBodies.StopPlayback, "Stop playback"),
    withBody("send_dtmf", CallBodies.SendDtmf, "Send digits (RFC 4733)"),
    withOptionalBody("gather", CallBodies.Gather, "Collect digits; the result is `call.gather_complete`"),
    withOptionalBody("stop_gather", CallBodies.Nothing, "Cancel the gather")
  )
  .add(
    unbuiltVerb("transfer"),
    unbuiltVerb("bridge"),
    unbuiltVerb("refer"),
    unbuiltVerb("speak"),
    unbuiltVerb("start_recording"),
    unbuiltVerb("stop_recording"),
    unbuiltVerb("gather_using_speak"),
    unbuiltVerb("gather_using_audio"),
    unbuiltVerb("streaming_start"),
    unbuiltVerb("streaming_stop"),
    unbuiltVerb("transcription_start"),
    unbuiltVerb("transcription_stop"),
    unbuiltPart("streamings"),
    unbuiltPart("transcription"),
    unbuiltPart("amd")
  )
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({ title: "Calls", description: "Outbound and inbound calls, and their control." })
  ) {}
