import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
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
import { endpoints } from "../Endpoint.ts"
import * as VerbEndpoints from "../VerbEndpoints.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"
import * as ConferenceBodies from "./ConferenceBodies.ts"
import { only } from "../../../domain/schema/RequestField.ts"

/** Conferences, their participants and their verbs. The documented form of these paths ends in a slash. */

const { get, list, patch, post, remove } = endpoints({ reads: "calls:read", writes: "calls:write" })

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

const muted = Schema.optionalKey(Query.flag("Only those who are muted, or are not."))
const onHold = Schema.optionalKey(Query.flag("Only those who are on hold, or are not."))

export class ConferenceApi extends HttpApiGroup.make("conferences")
  .add(
    post("create", path, "Create a conference", {
      payload: ConferenceBodies.CreateConference,
      success: Conference.pipe(HttpApiSchema.status(201)),
      description:
        "Around a call that is answered or bridged, which is its host. `conference.started` tells that the room is live.",
      errors: ["not_found", "call_not_in_required_state", "conflict", "unprocessable", ...reservationErrors]
    }),
    list("list", path, "List conferences", Conference, {
      filters: {
        status: only(ConferenceStatus, "Only with this status."),
        name: only(Text.of(0, 120), "Only those whose name has this text in it, in whatever case.")
      },
      description: "Newest first; `participants` is empty."
    }),
    get("retrieve", "/v1/conferences/:id/", "Retrieve a conference", { params, success: Conference }),
    ...actions,
    post("dial", "/v1/conferences/:id/participants/", "Dial a participant in", {
      params,
      payload: ConferenceBodies.DialParticipant,
      success: ConferenceParticipant.pipe(HttpApiSchema.status(201)),
      description:
        "Places a call that comes into the room when it is answered. It is admitted, reserved and billed as any other.",
      errors: [
        "conference_already_ended",
        "conference_full",
        "member_not_found",
        "unprocessable",
        "caller_id_forwarding_not_allowed",
        ...Connect.dialErrors
      ],
      statuses: { from_number_not_owned: 422 }
    }),
    list("participants", "/v1/conferences/:id/participants/list/", "List participants", ConferenceParticipant, {
      params,
      filters: {
        muted,
        onHold,
        includeLeft: Schema.optionalKey(Query.flag("Those who have left, too; without it they are not shown."))
      },
      description: "Those who speak come first, then all in the order in which they came."
    }),
    get("upstream", "/v1/conferences/:id/participants/upstream/", "Ask the carrier who is in the room", {
      params,
      query: Wire.struct({
        muted,
        onHold,
        whispering: Schema.optionalKey(Query.flag("Only those who whisper, or do not.")),
        page: Schema.optionalKey(
          Query.positive({ description: "Which page, from 1. Beyond the last: 404.", default: 1 })
        ),
        pageSize: Schema.optionalKey(Query.positive({ description: "Rows of a page.", default: 20, maximum: 100 }))
      }),
      success: UpstreamParticipants,
      description:
        "Of this moment, for finding out what went wrong. A row that the room does not know has no `member_id`; where the two disagree, `drift` is true.",
      errors: ["upstream_error"]
    }),
    get("participant", "/v1/conferences/:id/participants/:member_id/", "Retrieve a participant", {
      params: ofParticipant("The participant, `svc_member_…`."),
      success: ConferenceParticipant,
      errors: ["not_found", "member_not_found"]
    }),
    patch(
      "updateParticipant",
      "/v1/conferences/:id/participants/:member_id/",
      "Change what follows from a participant",
      {
        params: ofParticipant("The participant, `svc_member_…`."),
        payload: MemberVerbs.change,
        success: ConferenceParticipant,
        description: "Fields left out stay.",
        errors: ["not_found", "member_not_found", "conference_already_ended"]
      }
    ),
    remove("removeParticipant", "/v1/conferences/:id/participants/:member_id/", "Remove a participant", {
      params: ofParticipant("The participant's call, `svc_call_…`; its `svc_member_…` works too."),
      success: ConferenceParticipant,
      description: "Its leg leaves the room and its call goes on; one that still rings is hung up.",
      errors: ["not_found", "member_not_found", "conference_already_ended"]
    })
  )
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({
      title: "Conferences",
      description: "Rooms in which many calls hear each other, and their control."
    })
  ) {}
