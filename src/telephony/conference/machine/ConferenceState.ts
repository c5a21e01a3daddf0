import { Schema } from "effect"
import { Meter } from "../../call/Call.ts"
import { RoomCommand } from "../../../carrier/room/RoomCommand.ts"
import { settings, SupervisorRole } from "../../../ports/media/MemberChange.ts"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as Id from "../../../domain/Id.ts"

/**
 * The state of a conference as the journal keeps it: plain JSON, versioned. Times are in the conference's own time
 * (`runtime/actor/EntityTime`): epoch milliseconds that advance evenly, whatever happens to the wall clock.
 */
export const stateVersion = 1

const Millis = Schema.Number
const OrNull = Schema.NullOr

export const ConferenceStatus = Schema.Literals(["init", "in_progress", "completed"])
export type ConferenceStatus = typeof ConferenceStatus.Type

export const Beep = Schema.Literals(["never", "on_enter", "on_exit", "always"])
export type Beep = typeof Beep.Type

export const OnMemberLeft = Schema.Literals(["none", "play", "hangup"])
export type OnMemberLeft = typeof OnMemberLeft.Type

/**
 * A membership. `claimed`: its call was asked to enter; `ringing`: its call was dialled for it; `joining`: its call has
 * sent its leg; `joined`: it is in the room; `left`: over, for any reason. All but `left` count against the maximum.
 */
const Phase = Schema.Literals(["claimed", "ringing", "joining", "joined", "left"])
type Phase = typeof Phase.Type

/** The message that its call has not answered yet, and that is sent again. */
const Told = Schema.Struct({
  type: Schema.Literals(["enter", "over"]),
  by: Schema.Literals(["api", "system"]),
  /** The same flags as in the message `over`. */
  isRemoved: Schema.optionalKey(Schema.Literal(true)),
  neverStood: Schema.optionalKey(Schema.Literal(true)),
  /** When the message is sent again. */
  at: Millis,
  afterMs: Millis
})

export const Member = Schema.Struct({
  id: Id.MemberId,
  callId: Id.CallId,
  /** Null until its call has reported the leg. */
  legId: OrNull(Id.LegId),
  /** The reference of its call. Absent in a member that an earlier version kept. */
  customerReference: Schema.optionalKey(OrNull(Schema.String)),
  role: Schema.Literals(["host", "participant"]),
  phase: Phase,
  createdAt: Millis,
  joinedAt: OrNull(Millis),
  leftAt: OrNull(Millis),
  /** The wish of the request until the member enters, then the flag that the room last reported. */
  isMuted: Schema.Boolean,
  isHeld: Schema.Boolean,
  /** The role that the room last reported; absent: it is an ordinary member. */
  supervises: Schema.optionalKey(Schema.Struct({ role: SupervisorRole, targets: Schema.Array(Id.MemberId) })),
  /** How it enters, until it is in. */
  enters: Schema.optionalKey(Schema.Struct(settings)),
  /** The sound that it was to hear when it was last put on hold; null: that has failed, or there was none. */
  holdSound: Schema.optionalKey(OrNull(Id.WorkId)),
  /** The room put it on hold, until the room starts. */
  isWaiting: Schema.optionalKey(Schema.Boolean),
  /** Whether the last speaking event that was sent for it is a beginning. */
  isSpeaking: Schema.Boolean,
  /** Null: the host has the conference's setting, and others have false. */
  endOnExit: OrNull(Schema.Boolean),
  softEndOnExit: Schema.Boolean,
  /** Null: the conference's setting applies. */
  beepEnabled: OrNull(Beep),
  told: OrNull(Told)
})
export type Member = typeof Member.Type

/** A sound or speech that was requested and has not ended. */
export const Playback = Schema.Struct({
  id: Id.WorkId,
  commandId: Id.CommandId,
  /** The members that hear it; absent: the whole room. */
  to: Schema.optionalKey(Schema.Array(Id.MemberId)),
  /** It is stopping, and has not reported its end. */
  isStopped: Schema.optionalKey(Schema.Literal(true))
})
export type Playback = typeof Playback.Type

export const Recording = Schema.Struct({
  id: Id.WorkId,
  commandId: Id.CommandId,
  channels: Schema.Literals(["single", "dual"]),
  format: Schema.Literals(["mp3", "wav"]),
  isPaused: Schema.Boolean,
  /** When the wait for its outcome ends; null while it records. */
  until: OrNull(Millis)
})
export type Recording = typeof Recording.Type

export const ConferenceState = Schema.Struct({
  id: Id.ConferenceId,
  /** How far its time is ahead of its partition's, in milliseconds. */
  timeOffsetMs: Schema.Number,
  tenantId: Id.TenantId,
  name: Schema.String,
  status: ConferenceStatus,
  adapter: Schema.String,
  /** The route of the host's call, which selects the webhook subscriptions of its events. */
  routeId: Id.RouteId,
  hostCallId: Id.CallId,
  hostLegId: Id.LegId,
  customerReference: OrNull(Schema.String),
  beepEnabled: Beep,
  startOnCreate: Schema.Boolean,
  endOnExit: Schema.Boolean,
  maxParticipants: Schema.Int,
  durationMinutes: Schema.Int,
  /** The sound for members that wait for the start. */
  holdAudioUrl: Schema.optionalKey(Secret.url(Schema.String)),
  /** The room ends when it has been left by all but one for this long; absent or null: it does not. */
  endWhenAloneSecs: Schema.optionalKey(OrNull(Schema.Int)),
  /** The rule for the member that is left alone on hold; absent: none. */
  onMemberLeft: Schema.optionalKey(OnMemberLeft),
  /** The sound of the rule `play`. */
  onMemberLeftAudioUrl: Schema.optionalKey(Secret.url(Schema.String)),
  /** Since when all but one have left; null: several are there or expected; absent: there was one at most. */
  aloneAt: Schema.optionalKey(OrNull(Millis)),
  createdAt: Millis,
  startedAt: OrNull(Millis),
  endedAt: OrNull(Millis),
  /** A member with `softEndOnExit` has left: the room ends as soon as it has no member off hold. */
  endsWithoutUnheld: Schema.Boolean,
  /** Members in the order of their seating. Only the newest `mostLeft` that have left are here; all have rows. */
  members: Schema.Array(Member),
  /** `asked`: the carrier has not confirmed the room yet. */
  room: Schema.Literals(["asked", "live", "over"]),
  /** The last numbered event of the room that was applied. */
  heard: OrNull(Schema.Struct({ incarnation: Schema.String, n: Schema.Int })),
  /** Since when the carrier has been unable to report on the room. */
  lostAt: OrNull(Millis),
  /** Commands without an outcome yet: at most one of a kind for each member. They are sent again after a restart. */
  pending: Schema.Array(RoomCommand),
  playbacks: Schema.Array(Playback),
  recordings: Schema.Array(Recording),
  /** The meters that its recordings are charged by, one for each. */
  meters: Schema.Array(Meter.Meter),
  /** When the account refused to reserve more; null again after the next renewal. */
  renewalRefusedAt: OrNull(Millis),
  /** The number of the last event. */
  sequence: Schema.Number,
  /** The number of inputs committed so far. */
  seq: Schema.Number,
  /** The time of the last input. */
  at: Millis
})
export type ConferenceState = typeof ConferenceState.Type

/** The fields of a conference in which nothing has happened yet. */
export const untouched = {
  endsWithoutUnheld: false,
  members: [],
  heard: null,
  lostAt: null,
  pending: [],
  playbacks: [],
  recordings: [],
  meters: [],
  renewalRefusedAt: null
} as const satisfies Partial<ConferenceState>

/** How many members that have left the state keeps. */
export const mostLeft = 250

/** A member keeps its membership until it has left. */
export const isPresent = ({ phase }: Member): boolean => phase !== "left"

export const isCompleted = (state: ConferenceState): boolean => state.status === "completed"
