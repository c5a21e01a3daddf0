import { Schema } from "effect"
import * as EndWhy from "../../domain/EndWhy.ts"
import * as Field from "../../domain/schema/Field.ts"
import * as CallerReport from "../../domain/caller/CallerReport.ts"
import * as LegReport from "../../domain/LegReport.ts"
import * as CallIdentity from "../../carrier/number/CallIdentity.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import * as Id from "../../domain/Id.ts"
import * as Recordings from "../recording/Recording.ts"
import type { CallRow } from "./stored/CallList.ts"
import { type CallState, durationSeconds } from "./machine/CallState.ts"
import { CallStatus } from "./machine/leg/Leg.ts"

const direction = Field.oneOf("As this service sees it.", ["outbound", "inbound"])
const initiatedAt = Field.time("When it began.")
const answeredAt = Field.timeOrNull("Null until then.")
const endedAt = Field.timeOrNull("Null until then.")
/** The examples are those of a call that has just been placed, so that an answer agrees with itself. */
const durationSecs = Field.seconds("Answered seconds; 0 until answered.").annotate({ examples: [0] })
const why = EndWhy.field.pipe(Schema.annotateEncoded({ examples: [null] }))
const report = {
  sipStatus: LegReport.fields.sipStatus,
  sipReason: LegReport.fields.sipReason.pipe(Schema.annotateEncoded({ examples: [null] })),
  quality: LegReport.fields.quality.pipe(Schema.annotateEncoded({ examples: [null] }))
}
const caller = {
  callerName: CallerReport.fields.callerName.annotate({ examples: [null] }),
  diversion: CallerReport.fields.diversion.pipe(Schema.annotateEncoded({ examples: [[]] })),
  attestation: CallerReport.fields.attestation.annotate({ examples: [null] })
}
const status = CallStatus.annotate({
  description: "`ended` and `failed` are terminal.",
  examples: ["initiated"]
})
const endReason = Field.textOrNull("Why it ended; null until then. Further values may come.", null)
const endInitiator = Field.textOrNull("Who ended it; null until then.", null)

const CallLeg = Wire.struct({
  id: Field.legId("The leg."),
  callId: Field.callId("The call that it belongs to."),
  role: Field.oneOf("`primary`: the leg that the call was created with; `transfer`: one that a transfer dialled.", [
    "primary",
    "transfer"
  ]),
  direction,
  from: Field.text("The calling number, E.164.", "+12025550150"),
  to: Field.text("The called number, E.164, or a SIP URI.", "+12025550100"),
  status,
  bridgedLegId: Schema.NullOr(Id.spelled("leg")).annotate({
    description: "The leg at the other end of a bridge; null: none.",
    examples: [null]
  }),
  conferenceId: Field.textOrNull("The conference that it is in; null: none.", null),
  initiatedAt,
  answeredAt,
  endedAt,
  durationSeconds: durationSecs,
  endReason,
  endInitiator,
  why,
  ...report
}).pipe(Schema.annotateEncoded({ identifier: "CallLeg" }))

/**
 * A call as the API shows it, guide/calls.md#the-call. `legs`, `recordings` and what is known of the caller besides its
 * number are complete on retrieve and in the replies of actions, and empty or null on list rows.
 */
export const Call = Wire.struct({
  id: Field.callId(),
  direction,
  status,
  from: Field.text("The calling number, E.164.", "+12025550150"),
  to: Field.text("The called number, E.164.", "+12025550100"),
  ...caller,
  routeId: Field.routeId,
  initiatedAt,
  answeredAt,
  endedAt,
  durationSeconds: durationSecs,
  endReason,
  endInitiator,
  why,
  customerReference: Field.customerReference,
  costCents: Field.centsOrNull("What the call cost; null until it is rated."),
  ratingStatus: Field.oneOf("`pending` until a few seconds after the end.", ["pending", "rated", "failed"]),
  legs: Schema.Array(CallLeg).annotate({ description: "Its legs; empty on list rows." }),
  recordings: Schema.Array(Recordings.View).annotate({
    description: "Its recordings whose outcome is known, the first ones first; empty on list rows.",
    examples: [[]]
  })
}).pipe(Schema.annotateEncoded({ identifier: "Call" }))
export type Call = typeof Call.Encoded

const encode = Wire.encoder(Call)

/** `recordings` are those of this call. */
export const ofState = (state: CallState, recordings: ReadonlyArray<Recordings.Recording>): Call => ({
  ...encode({
    ...state,
    ...(state.caller ?? CallIdentity.nothing),
    durationSeconds: durationSeconds(state.answeredAt, state.endedAt),
    why: EndWhy.of(state.endWhy),
    legs: state.legs.map((leg) => ({
      ...leg,
      callId: state.id,
      bridgedLegId: leg.bridge?.legId ?? null,
      conferenceId: leg.role === "primary" && state.room?.phase === "in" ? state.room.conferenceId : null,
      why: EndWhy.of(leg.endWhy),
      sipReason: leg.peerReason,
      durationSeconds: durationSeconds(leg.answeredAt, leg.endedAt)
    })),
    recordings: []
  }),
  recordings
})

/** The view of a list row. */
export const ofRow = (row: CallRow): Call =>
  encode({
    ...row,
    ...CallIdentity.nothing,
    from: row.fromNumber,
    to: row.toNumber,
    why: null,
    legs: [],
    recordings: []
  })

/** The exact bytes of a response. */
export const render = (state: CallState, recordings: ReadonlyArray<Recordings.Recording>): string =>
  JSON.stringify(ofState(state, recordings))
