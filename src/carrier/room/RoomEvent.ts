import { Schema, Tuple } from "effect"
import { CallId, CommandId, ConferenceId, LegId, MemberId } from "../../domain/Id.ts"
import * as MediaMessage from "../../ports/media/MediaMessage.ts"
import { flags, MemberChanged } from "../../ports/media/MemberChange.ts"

/** The fields of every event of a room; they have the same meaning as in `CarrierEvent`. */
const ofRoom = {
  conferenceId: ConferenceId,
  at: Schema.Number,
  /** Names the life of the carrier that reports it. */
  incarnation: Schema.String,
  /** Counts 1, 2, 3 and so on for each room within one incarnation. 0 for an event that is not counted. */
  n: Schema.Int
}
const ofMember = { ...ofRoom, memberId: MemberId }

/** The events that a room reports to its conference. */
export const RoomEvent = Schema.Union([
  /** The room is open. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("live") }),
  /** A leg joined as this member. */
  Schema.Struct({ ...ofMember, type: Schema.tag("member_joined"), callId: CallId, legId: LegId }),
  /**
   * The member is no longer in the room. Reported once for each that joined, and for an absent member that is removed.
   */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("member_left"),
    /** Its leg has ended. */
    isCallOver: Schema.optionalKey(Schema.Literal(true))
  }),
  /** A change of the member was carried out. */
  ...MemberChanged.mapMembers(Tuple.map(Schema.fieldsAssign(ofMember))).members,
  /** Derived from the member's sound. A member that is muted, held, or leaves no longer speaks. */
  Schema.Struct({ ...ofMember, type: Schema.tag("member_speaking"), isSpeaking: Schema.Boolean }),
  /** An event of the room's media, caused by a `media` command of the conference. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("media"), event: MediaMessage.MediaEvent }),
  /** The room is gone, which is its last event. Its members are gone too, whether that was reported or not. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("over") }),
  /** The carrier could not carry the command out. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("command_failed"), commandId: CommandId, reason: Schema.String })
])
export type RoomEvent = typeof RoomEvent.Type

/** An event without the room, the time, the incarnation and the number. */
export type RoomReport = RoomEvent extends infer Event
  ? Event extends RoomEvent
    ? Omit<Event, keyof typeof ofRoom>
    : never
  : never

/** The same event with its times on another clock; `of` translates one. */
export const inTime = (event: RoomEvent, of: (at: number) => number): RoomEvent =>
  event.type === "media"
    ? { ...event, at: of(event.at), event: MediaMessage.inTime(event.event, of) }
    : { ...event, at: of(event.at) }

/** A member as its carrier knows it. */
export const MemberFacts = Schema.Struct({
  memberId: MemberId,
  callId: CallId,
  legId: LegId,
  ...flags,
  /** How long the member has been in the room, by the carrier's monotonic clock. */
  ageMs: Schema.Number,
  /** How long ago one of its flags changed. */
  changedMs: Schema.Number
})
export type MemberFacts = typeof MemberFacts.Type

/** All facts that a carrier knows about its rooms at one moment. A room that is missing here is gone. */
export const RoomSnapshot = Schema.Struct({
  incarnation: Schema.String,
  rooms: Schema.Record(
    Schema.String,
    Schema.Struct({
      /** The number of the last event. */
      n: Schema.Int,
      members: Schema.Array(MemberFacts)
    })
  )
})
export type RoomSnapshot = typeof RoomSnapshot.Type
