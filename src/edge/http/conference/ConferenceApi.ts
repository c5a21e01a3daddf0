import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Connect } from "../../../telephony/call/Call.ts"
import {
  ConferenceStatus,
  Conference,
  ConferenceParticipant,
  UpstreamParticipants,
  MemberVerbs,
  ConferenceVerbs
} from "../../../telephony/conference/Conference.ts"
import { reservationErrors } from "../../../telephony/verb/Verb.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as VerbEndpoints from "../VerbEndpoints.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"
import * as ConferenceBodies from "./ConferenceBodies.ts"

/** Conferences, their participants and their verbs. The documented form of these paths ends in a slash. */

const path = "/v1/conferences/"
const id = PathId.prefixed("conf").annotate({ description: "The conference." })
const params = { id }
const ofParticipant = (description: string) => ({ id, member_id: PathId.participant.annotate({ description }) })

const actions = VerbEndpoints.make({
  verbs: ConferenceVerbs,
  path: (verb) => `/v1/conferences/:id/actions/${verb}/`,
  params,
  success: Conference,
  errors: ["conference_already_ended"]
})

const create = HttpApiEndpoint.post("create", path, {
  payload: ConferenceBodies.CreateConference,
  success: Conference.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Create a conference",
    description:
      "Around a call that is answered or bridged, which is its host. `conference.started` tells that the room is live.",
    scope: "calls:write",
    errors: ["not_found", "call_not_in_required_state", "conflict", "unprocessable", ...reservationErrors]
  })
)

const list = HttpApiEndpoint.get("list", path, {
  query: Wire.struct({
    status: Schema.optionalKey(ConferenceStatus.annotate({ description: "Only with this status." })),
    name: Schema.optionalKey(
      Text.of(0, 120).annotate({ description: "Only those whose name has this text in it, in whatever case." })
    ),
    ...Pagination.parameters
  }),
  success: Pagination.envelope(Conference)
}).annotateMerge(
  about({ summary: "List conferences", description: "Newest first; `participants` is empty.", scope: "calls:read" })
)

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/conferences/:id/", { params, success: Conference }).annotateMerge(
  about({ summary: "Retrieve a conference", scope: "calls:read" })
)

const dial = HttpApiEndpoint.post("dial", "/v1/conferences/:id/participants/", {
  params,
  payload: ConferenceBodies.DialParticipant,
  success: ConferenceParticipant.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Dial a participant in",
    description:
      "Places a call that comes into the room when it is answered. It is admitted, reserved and billed as any other.",
    scope: "calls:write",
    errors: [
      "conference_already_ended",
      "conference_full",
      "unprocessable",
      "caller_id_forwarding_not_allowed",
      ...Connect.dialErrors
    ],
    statuses: { from_number_not_owned: 422 }
  })
)

const muted = Schema.optionalKey(Query.flag("Only those who are muted, or are not."))
const onHold = Schema.optionalKey(Query.flag("Only those who are on hold, or are not."))

const participants = HttpApiEndpoint.get("participants", "/v1/conferences/:id/participants/list/", {
  params,
  query: Wire.struct({
    muted,
    onHold,
    includeLeft: Schema.optionalKey(Query.flag("Those who have left, too; without it they are not shown.")),
    ...Pagination.parameters
  }),
  success: Pagination.envelope(ConferenceParticipant)
}).annotateMerge(
  about({
    summary: "List participants",
    description: "Those who speak come first, then all in the order in which they came.",
    scope: "calls:read"
  })
)

const upstream = HttpApiEndpoint.get("upstream", "/v1/conferences/:id/participants/upstream/", {
  params,
  query: Wire.struct({
    muted,
    onHold,
    whispering: Schema.optionalKey(Query.flag("Only those who whisper, or do not.")),
    page: Schema.optionalKey(Query.positive({ description: "Which page, from 1. Beyond the last: 404.", default: 1 })),
    pageSize: Schema.optionalKey(Query.positive({ description: "Rows of a page.", default: 20, maximum: 100 }))
  }),
  success: UpstreamParticipants
}).annotateMerge(
  about({
    summary: "Ask the carrier who is in the room",
    description:
      "Of this moment, for finding out what went wrong. A row that the room does not know has no `member_id`; where the two disagree, `drift` is true.",
    scope: "calls:read",
    errors: ["upstream_error"]
  })
)

const participant = HttpApiEndpoint.get("participant", "/v1/conferences/:id/participants/:member_id/", {
  params: ofParticipant("The participant, `svc_member_…`."),
  success: ConferenceParticipant
}).annotateMerge(
  about({ summary: "Retrieve a participant", scope: "calls:read", errors: ["not_found", "member_not_found"] })
)

const updateParticipant = HttpApiEndpoint.patch("updateParticipant", "/v1/conferences/:id/participants/:member_id/", {
  params: ofParticipant("The participant, `svc_member_…`."),
  payload: MemberVerbs.change,
  success: ConferenceParticipant
}).annotateMerge(
  about({
    summary: "Change what follows from a participant",
    description: "Fields left out stay.",
    scope: "calls:write",
    errors: ["not_found", "member_not_found", "conference_already_ended"]
  })
)

const removeParticipant = HttpApiEndpoint.delete("removeParticipant", "/v1/conferences/:id/participants/:member_id/", {
  params: ofParticipant("The participant's call, `svc_call_…`; its `svc_member_…` works too."),
  success: ConferenceParticipant
}).annotateMerge(
  about({
    summary: "Remove a participant",
    description: "Its leg leaves the room and its call goes on; one that still rings is hung up.",
    scope: "calls:write",
    errors: ["not_found", "member_not_found", "conference_already_ended"]
  })
)

export class ConferenceApi extends HttpApiGroup.make("conferences")
  .add(
    create,
    list,
    retrieve,
    ...actions,
    dial,
    participants,
    upstream,
    participant,
    updateParticipant,
    removeParticipant
  )
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({
      title: "Conferences",
      description: "Rooms in which many calls hear each other, and their control."
    })
  ) {}
