import { type Outcome, rejected, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { MediaCommand, MediaEnded } from "../../../ports/media/MediaMessage.ts"
import type { Playback } from "./ConferenceState.ts"
import * as Draft from "./Draft.ts"

/** Sounds and speech in the room: each ends once, with one `conference.playback_ended`. */

/** The limit is that of the media plane's queue for a leg. */
const most = 32

const full = ApiError.of("conflict", `${most} playbacks are already queued in this room`)

/** Begins a playback for the whole room, or for the members in `to`. */
export const begin = (
  draft: Draft.Draft,
  media: (id: Id.WorkId) => MediaCommand,
  to: ReadonlyArray<Id.MemberId> | null,
  context: StepContext
): Draft.Draft | Outcome<never, never> => {
  const { playbacks, tenantId } = draft.state
  if (playbacks.length >= most) return rejected(full)
  const id = Id.WorkId.make(Id.deriveOpaque(context.seed, "playback"))
  const asked = Draft.ask(draft, { type: "media", tenantId, media: media(id), to }, context)
  return Draft.set(asked, { playbacks: [...playbacks, { id, commandId: Draft.commandId(draft, context) }] })
}

const ended = (
  draft: Draft.Draft,
  playback: Playback,
  status: MediaEnded["status"],
  reason: string | null,
  endedAt: number
): Draft.Draft =>
  Draft.emit(Draft.set(draft, { playbacks: draft.state.playbacks.filter((other) => other !== playback) }), {
    type: "conference.playback_ended",
    data: { conferenceId: draft.state.id, playbackId: playback.id, status, reason, endedAt }
  })

/** Handles the media plane's report that a sound has ended. */
export const told = (draft: Draft.Draft, { id, reason, status }: MediaEnded, at: number) => {
  const playback = draft.state.playbacks.find((other) => other.id === id)
  return playback === undefined ? unchanged : ended(draft, playback, status, reason, at)
}

/** Handles the carrier's report that it could not carry out the command. */
export const refused = (draft: Draft.Draft, commandId: Id.CommandId, reason: string, at: number) => {
  const playback = draft.state.playbacks.find((other) => other.commandId === commandId)
  return playback === undefined ? unchanged : ended(draft, playback, "failed", reason, at)
}

/** Stops all playbacks when the room closes. */
export const closed = (draft: Draft.Draft, at: number): Draft.Draft =>
  draft.state.playbacks.reduce((open, playback) => ended(open, playback, "stopped", "conference_ended", at), draft)

/** Fails all playbacks and stops the room's sound, because the room may or may not have received the commands. */
export const restarted = (draft: Draft.Draft, context: StepContext): Draft.Draft =>
  draft.state.playbacks.length === 0
    ? draft
    : Draft.ask(
        draft.state.playbacks.reduce(
          (open, playback) => ended(open, playback, "failed", "service_restarted", context.now),
          draft
        ),
        { type: "media", tenantId: draft.state.tenantId, media: { type: "stop_playback", which: "all" }, to: null },
        context
      )
