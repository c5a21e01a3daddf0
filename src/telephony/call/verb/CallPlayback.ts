import { Schema } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import type { PlaybackStatus } from "../../../domain/event/CallEvent.ts"
import type { WorkId } from "../../../domain/Id.ts"
import { Target } from "../../../ports/media/PlaybackMessages.ts"
import * as ActionKind from "./ActionKind.ts"
import * as BodyField from "../../verb/BodyField.ts"
import * as SpeechBody from "../../verb/SpeechBody.ts"

/**
 * Sounds that are played to a leg and speech, one after the other, guide/calls.md#play. Each ends with one
 * `call.playback_ended`, or `call.speak_ended`.
 */

/** The event for the end of a sound, or of speech. */
export const ended = (
  id: WorkId,
  isSpeech: boolean,
  status: PlaybackStatus,
  reason: string | null
): ActionKind.Ending =>
  isSpeech
    ? (of, endedAt) => ({ type: "call.speak_ended", data: { ...of, speakId: id, status, reason, endedAt } })
    : (of, endedAt) => ({ type: "call.playback_ended", data: { ...of, playbackId: id, status, reason, endedAt } })

const endedItem = (
  { id, media }: ActionKind.Activity,
  status: PlaybackStatus,
  reason: string | null
): ActionKind.Ending => ended(id, media?.type === "speak", status, reason)

const playback = ActionKind.make(
  "playback",
  {},
  {
    // The limit is that of the media plane's queue for a leg, so that the API itself refuses the next one.
    limit: 32,
    full: "32 playbacks are already queued on this call",
    told: (item, { reason, status }) => endedItem(item, status, reason),
    legEnded: { ending: (item) => endedItem(item, "stopped", "call_ended") },
    restarted: {
      ending: (item) => endedItem(item, "failed", "service_restarted"),
      quiet: { type: "stop_playback", which: "all" }
    }
  }
)

export const play = playback.verb({
  summary: "Play a sound file from a URL",
  when: "talking",
  body: BodyField.body("Play", {
    url: BodyField.httpsUrl("A sound file: WAV, AIFF, MP3, FLAC or Ogg."),
    loop: BodyField.or(BodyField.of(BodyField.int(1, 100), "How many times it is played.", 2), 1),
    targetLegs: BodyField.or(
      BodyField.of(Target, "Who hears it: this leg, the one that it is bridged with, or both.", "self"),
      "self"
    )
  }),
  targets: ({ url }) => ({ url }),
  act: ({ derive, isBridged }, { loop, targetLegs: target, url }) => {
    if (target !== "self" && !isBridged)
      return {
        type: "refuse",
        error: ApiError.of("call_not_in_required_state", `target_legs ${target} needs a bridged call`, "target_legs")
      }
    const id = derive("playback")
    return { type: "begin", item: { id, media: { type: "play", id, url, loop, target } } }
  }
})

export const speak = playback.verb({
  summary: "Speak a text",
  when: "talking",
  body: BodyField.body("Speak", {
    payload: SpeechBody.payload("What is said.", "Welcome to Example."),
    ...SpeechBody.manner
  }),
  // The voice does not exist.
  errors: ["unprocessable"],
  speaks: SpeechBody.speaking,
  act: ({ derive }, body) => {
    const id = derive("speech")
    return {
      type: "begin",
      item: { id, media: { type: "speak", id, speech: SpeechBody.speechOf(body, body.payload) } }
    }
  }
})

export const stopPlayback = playback.verb({
  summary: "Stop playback and speech",
  when: "talking",
  body: BodyField.body("StopPlayback", {
    stop: BodyField.or(
      BodyField.of(Schema.Literals(["current", "all"]), "What plays now, or that and all that waits.", "all"),
      "all"
    )
  }),
  // Each playback reports its own end.
  act: (_, { stop }) => ({
    type: "stop",
    which: stop === "all" ? "all" : "first",
    media: { type: "stop_playback", which: stop }
  })
})
