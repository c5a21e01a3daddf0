import { Schema } from "effect"
import { Meter } from "../../call/Call.ts"
import { RoomCommand } from "../../../carrier/room/RoomCommand.ts"
import * as Id from "../../../domain/Id.ts"

/**
 * The state of a conference as the journal keeps it: plain JSON, versioned. Times are the conference's own
 * (`runtime/actor/EntityTime`): epoch milliseconds that go on evenly, wherever the wall clock is set.
 */
export const stateVersion = 1

const Millis = Schema.Number
const OrNull = Schema.NullOr

export const ConferenceStatus = Schema.Literals(["init", "in_progress", "completed"])
export type ConferenceStatus = typeof ConferenceStatus.Type

export const Beep = Schema.Literals(["never", "on_enter", "on_exit", "always"])
export type Beep = typeof Beep.Type

/**
 * A seat. `claimed`: its call was told to enter; `ringing`: its call was dialled for it; `joining`: its call has sent its
 * leg; `joined`: it is in the room; `left`: over, by whatever way. All but `left` count against the maximum.
 */
export const Phase = Schema.Literals(["claimed", "ringing", "joining", "joined", "left"])
export type Phase = typeof Phase.Type

/** What its call was told and has not answered; it is told again. */
const Told = Schema.Struct({
  type: Schema.Literals(["enter", "over"]),
  by: Schema.Literals(["api", "system"]),
  /** As in `over`. */
  isRemoved: Schema.optionalKey(Schema.Literal(true)),
  neverStood: Schema.optionalKey(Schema.Literal(true)),
  /** When it is told again. */
  at: Millis,
  afterMs: Millis
})

export const Member = Schema.Struct({
  id: Id.MemberId,
  callId: Id.CallId,
  /** Null until its call has said. */
  legId: OrNull(Id.LegId),
  role: Schema.Literals(["host", "participant"]),
  phase: Phase,
  createdAt: Millis,
  joinedAt: OrNull(Millis),
  leftAt: OrNull(Millis),
  /** As it comes in, and from then on as the room tells. */
  isMuted: Schema.Boolean,
  isHeld: Schema.Boolean,
  /** It was told that it speaks, and not yet that it stopped. */
  isSpeaking: Schema.Boolean,
  /** Null: as the conference has it for its host, and false for others. */
  endOnExit: OrNull(Schema.Boolean),
  softEndOnExit: Schema.Boolean,
  /** Null: as the conference has it. */
  beepEnabled: OrNull(Beep),
  told: OrNull(Told)
})
export type Member = typeof Member.Type

/** A sound or speech that was asked for, and has not ended. */
export const Playback = Schema.Struct({ id: Id.WorkId, commandId: Id.CommandId })
export type Playback = typeof Playback.Type

export const Recording = Schema.Struct({
  id: Id.WorkId,
  commandId: Id.CommandId,
  channels: Schema.Literals(["single", "dual"]),
  format: Schema.Literals(["mp3", "wav"]),
  isPaused: Schema.Boolean,
  /** Until when its outcome is waited for; null: it goes on. */
  until: OrNull(Millis)
})
export type Recording = typeof Recording.Type

export const ConferenceState = Schema.Struct({
  id: Id.ConferenceId,
  /** How far its time is ahead of its partition's. */
  timeOffsetMs: Schema.Number,
  tenantId: Id.TenantId,
  name: Schema.String,
  status: ConferenceStatus,
  adapter: Schema.String,
  /** Of the host's call, for whom events are meant. */
  routeId: Id.RouteId,
  hostCallId: Id.CallId,
  hostLegId: Id.LegId,
  customerReference: OrNull(Schema.String),
  beepEnabled: Beep,
  startOnCreate: Schema.Boolean,
  endOnExit: Schema.Boolean,
  maxParticipants: Schema.Int,
  durationMinutes: Schema.Int,
  createdAt: Millis,
  startedAt: OrNull(Millis),
  endedAt: OrNull(Millis),
  /** One left with whom the room ends as soon as nobody off hold is there. */
  endsWithoutUnheld: Schema.Boolean,
  /** In the order in which they were seated. Of those that have left, the newest `mostLeft`; all have rows. */
  members: Schema.Array(Member),
  /** Of the room. `asked`: it has not told that it stands. */
  room: Schema.Literals(["asked", "live", "over"]),
  /** The last event of the room that counts. */
  heard: OrNull(Schema.Struct({ incarnation: Schema.String, n: Schema.Int })),
  /** Since when its carrier could not be asked about the room. */
  lostAt: OrNull(Millis),
  /** Commands whose outcomes have not come: at most one of a kind for each member. After a restart they are sent again. */
  pending: Schema.Array(RoomCommand),
  playbacks: Schema.Array(Playback),
  recordings: Schema.Array(Recording),
  /** What its recordings are charged by, one for each. */
  meters: Schema.Array(Meter.Meter),
  /** When the account refused to reserve more, and nothing has been renewed since. */
  renewalRefusedAt: OrNull(Millis),
  /** The last event's number. */
  sequence: Schema.Number,
  /** Inputs committed so far. */
  seq: Schema.Number,
  /** Time of the last input. */
  at: Millis
})
export type ConferenceState = typeof ConferenceState.Type

/** A conference in which nothing has happened, and of which nothing was asked. */
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

/** Members that have left and are still in the state. */
export const mostLeft = 250

/** Its time and its seat are over only when it has left. */
export const isSeated = ({ phase }: Member): boolean => phase !== "left"

export const isCompleted = (state: ConferenceState): boolean => state.status === "completed"
