import type { MediaEvent } from "../../media/MediaPlane.ts"
import type { CarrierCommand, CarrierEvent } from "../Carrier.ts"

/** A carrier event without what names and dates it. */
export type LegReport = CarrierEvent extends infer Event
  ? Event extends CarrierEvent
    ? Omit<Event, "legId" | "at">
    : never
  : never

/** What the call is told of a media event; `null`: nothing, `fault`: the leg cannot go on. */
export const ofMedia = (event: MediaEvent): LegReport | "fault" | null => {
  switch (event._tag) {
    case "DtmfReceived":
      return { type: "dtmf", digit: event.digit }
    case "PlaybackEnded":
      return { type: "playback_ended", playbackId: event.id, status: event.status, reason: event.reason }
    case "DtmfSent":
      return { type: "dtmf_sent", commandId: event.id }
    case "DtmfFailed":
      return { type: "command_failed", commandId: event.id, reason: event.reason }
    case "MediaTimeout":
      return "fault"
    case "PlaybackStarted":
    case "Quality":
      return null
  }
}

/** The outcome of a command that cannot be carried out for `reason`; `null`: it has none of its own. */
export const ofFailure = (command: CarrierCommand, reason: "unknown_leg" | "not_answered"): LegReport | null => {
  switch (command.type) {
    case "play":
      return { type: "playback_ended", playbackId: command.playbackId, status: "failed", reason }
    case "answer":
    case "send_dtmf":
      return { type: "command_failed", commandId: command.commandId, reason }
    case "dial":
    case "ring":
    case "reject":
    case "hangup":
    case "stop_playback":
      return null
  }
}

/** Everything that is told of a leg which this process never had, or has no more. */
export const ofUnknownLeg = (command: CarrierCommand): ReadonlyArray<LegReport> => {
  const failure = ofFailure(command, "unknown_leg")
  const mustBeGone = command.type === "answer" || command.type === "reject" || command.type === "hangup"
  return [
    ...(failure === null ? [] : [failure]),
    ...(mustBeGone ? [{ type: "ended", cause: "lost", sipStatus: null, by: "network" } as const] : [])
  ]
}
