import { type Outcome, rejected, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { MediaCommand, MediaEnded } from "../../../ports/media/MediaMessage.ts"
import type { Playback } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** Sounds and speech in the room: each ends once, with one `conference.playback_ended`. */

/** The limit is that of the media plane's queue for a leg. */
const most = 32

/** How many more may be stopping without having reported their end. */
const mostStopped = 2 * most

const full = ApiError.of("conflict", `${most} playbacks are already queued in this room`)

type Result = ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never>

/** Acts on the members with these legs, or on the whole room when there are none. */
const heardBy = (
  { state }: ConferenceStepBuilder.ConferenceStepBuilder,
  legIds: ReadonlyArray<Id.LegId> | undefined,
  act: (to: ReadonlyArray<Id.MemberId> | null) => Result
): Result => {
  const members = legIds === undefined ? null : RoomMembers.membersOf(state, legIds)
  if (legIds !== undefined && members === null) return rejected(RoomMembers.noMember("leg_ids"))
  return act(members?.map(({ id }) => id) ?? null)
}

/** Begins a playback for the members with these legs; undefined: for the whole room. */
export const start = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  media: (id: Id.WorkId) => MediaCommand,
  legIds: ReadonlyArray<Id.LegId> | undefined,
  context: StepContext
): Result =>
  heardBy(builder, legIds, (to) => {
    const { playbacks, tenantId } = builder.state
    // One that is stopping no longer counts, because its stop may have been answered already.
    const stopped = playbacks.filter(({ isStopped }) => isStopped === true).length
    if (playbacks.length - stopped >= most || stopped >= mostStopped) return rejected(full)
    const id = Id.WorkId.make(Id.deriveOpaque(context.seed, "playback"))
    const asked = ConferenceStepBuilder.ask(builder, { type: "media", tenantId, media: media(id), to }, context)
    return ConferenceStepBuilder.set(asked, {
      playbacks: [
        ...playbacks,
        { id, commandId: ConferenceStepBuilder.commandId(builder, context), ...(to === null ? {} : { to }) }
      ]
    })
  })

/** Stops the playbacks for the members with these legs; undefined: for the whole room. Each reports its own end. */
export const stop = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  legIds: ReadonlyArray<Id.LegId> | undefined,
  context: StepContext
): Result => heardBy(builder, legIds, (to) => silence(builder, to, context))

const silence = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  to: ReadonlyArray<Id.MemberId> | null,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder =>
  ConferenceStepBuilder.ask(
    ConferenceStepBuilder.set(builder, {
      playbacks: builder.state.playbacks.map((playback) =>
        isOnlyFor(playback, to) ? { ...playback, isStopped: true as const } : playback
      )
    }),
    { type: "media", tenantId: builder.state.tenantId, media: { type: "stop_playback", which: "all" }, to },
    context
  )

/** Whether all that hear it are among these; null: the whole room is. */
const isOnlyFor = ({ to: heard }: Playback, to: ReadonlyArray<Id.MemberId> | null): boolean =>
  to === null || (heard !== undefined && heard.every((id) => to.includes(id)))

const ended = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  playback: Playback,
  status: MediaEnded["status"],
  reason: string | null,
  endedAt: number
): ConferenceStepBuilder.ConferenceStepBuilder =>
  ConferenceStepBuilder.emit(
    ConferenceStepBuilder.set(builder, { playbacks: builder.state.playbacks.filter((other) => other !== playback) }),
    {
      type: "conference.playback_ended",
      data: { ...RoomMembers.ofRoom(builder.state), playbackId: playback.id, status, reason, endedAt, heldLegId: null }
    }
  )

/** Handles the media plane's report that a sound has ended. */
export const told = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { id, reason, status }: MediaEnded,
  at: number
) => {
  const playback = builder.state.playbacks.find((other) => other.id === id)
  return playback === undefined
    ? (RoomMembers.holdFailed(builder, id, reason, at) ?? unchanged)
    : ended(builder, playback, status, reason, at)
}

/** Handles the carrier's report that it could not carry out the command. */
export const refused = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  commandId: Id.CommandId,
  reason: string,
  at: number
) => {
  const playback = builder.state.playbacks.find((other) => other.commandId === commandId)
  return playback === undefined ? unchanged : ended(builder, playback, "failed", reason, at)
}

/** Stops all playbacks when the room closes. */
export const closed = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  at: number
): ConferenceStepBuilder.ConferenceStepBuilder =>
  builder.state.playbacks.reduce((open, playback) => ended(open, playback, "stopped", "conference_ended", at), builder)

/** Fails all playbacks and stops the room's sound, because the room may or may not have received the commands. */
export const restarted = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder =>
  builder.state.playbacks.length === 0
    ? builder
    : silence(
        builder.state.playbacks.reduce(
          (open, playback) => ended(open, playback, "failed", "service_restarted", context.now),
          builder
        ),
        null,
        context
      )
