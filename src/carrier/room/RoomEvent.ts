import { Schema } from "effect"
import { CallId, CommandId, ConferenceId, LegId, MemberId } from "../../domain/Id.ts"
import * as MediaMessage from "../../ports/media/MediaMessage.ts"
import { SupervisorRole } from "./RoomCommand.ts"

/** Every event of a room has these; they mean what they mean with a leg (`CarrierEvent`). */
const ofRoom = {
  conferenceId: ConferenceId,
  at: Schema.Number,
  /** Names the life of the carrier that tells it. */
  incarnation: Schema.String,
  /** 1, 2, 3 and so on for each room within one incarnation. 0: it is not counted. */
  n: Schema.Int
}
const ofMember = { ...ofRoom, memberId: MemberId }

/** What a room tells its conference. */
export const RoomEvent = Schema.Union([
  /** The room stands. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("live") }),
  /** A leg came in, as this member. */
  Schema.Struct({ ...ofMember, type: Schema.tag("member_joined"), callId: CallId, legId: LegId }),
  /** It is no longer there: once for each that came in. Told of one who never was there, too, where one is removed. */
  Schema.Struct({ ...ofMember, type: Schema.tag("member_left") }),
  Schema.Struct({ ...ofMember, type: Schema.tag("member_muted"), isMuted: Schema.Boolean }),
  Schema.Struct({ ...ofMember, type: Schema.tag("member_held"), isHeld: Schema.Boolean }),
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("member_supervises"),
    role: SupervisorRole,
    targets: Schema.Array(MemberId)
  }),
  /** By what it says. Whoever is muted, held, or leaves no longer speaks. */
  Schema.Struct({ ...ofMember, type: Schema.tag("member_speaking"), isSpeaking: Schema.Boolean }),
  /** An event of the room's media, of what the conference asked for by `media`. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("media"), event: MediaMessage.MediaEvent }),
  /** The room is gone: the last that is told of it. Its members are gone with it, whether that was told or not. */
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

/** A member as the carrier has it. */
export const MemberFacts = Schema.Struct({
  memberId: MemberId,
  callId: CallId,
  legId: LegId,
  isMuted: Schema.Boolean,
  isHeld: Schema.Boolean,
  role: SupervisorRole,
  targets: Schema.Array(MemberId),
  /** How long it has been there, by the carrier's monotonic clock. */
  ageMs: Schema.Number,
  /** How long ago one of its flags changed. */
  changedMs: Schema.Number
})
export type MemberFacts = typeof MemberFacts.Type

/** All that a carrier knows of its rooms at one moment. A room that is not in it is gone. */
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
