import { Schema } from "effect"
import * as BodyField from "../../verb/BodyField.ts"
import { reservationErrors } from "../../verb/Verb.ts"
import * as RoomRecordings from "../machine/RoomRecordings.ts"
import * as ConferenceField from "./ConferenceField.ts"
import { verb } from "./ConferenceVerb.ts"

/** Verbs that record the room; the outcome is `recording.completed` or `recording.failed`. */

export const recordStart = verb({
  summary: "Record the room; the result is `recording.completed`",
  when: "open",
  body: BodyField.body(
    "RecordConference",
    {
      format: BodyField.format,
      channels: BodyField.or(
        BodyField.of(
          Schema.Literals(["single", "dual"]),
          "`dual`: the host on the left, all others and what is played on the right.",
          "single"
        ),
        "single"
      ),
      hasBeep: BodyField.or(
        BodyField.of(Schema.Boolean, "A tone at the beginning, which all in the room hear.", true),
        false
      ),
      trim: BodyField.trim,
      ...ConferenceField.region
    },
    { hasBeep: "play_beep" }
  ),
  errors: ["conference_action_invalid", "conflict", ...reservationErrors],
  act: ({ builder, context, recording }, body) => RoomRecordings.start(builder, body, recording ?? null, context)
})

export const recordStop = verb({
  summary: "End the recording; it is stored then",
  when: "open",
  body: BodyField.body("StopConferenceRecording", ConferenceField.region),
  errors: ["recording_already_stopped"],
  act: ({ builder, context }) => RoomRecordings.stop(builder, context)
})

const pausing = (isPaused: boolean, identifier: string, summary: string) =>
  verb({
    summary,
    when: "open",
    body: BodyField.body(identifier, ConferenceField.region),
    errors: ["conference_action_invalid", "conflict"],
    act: ({ builder, context }) => RoomRecordings.pause(builder, isPaused, context)
  })

export const recordPause = pausing(
  true,
  "PauseConferenceRecording",
  "Pause the recording: silence until it is resumed, free of charge"
)
export const recordResume = pausing(false, "ResumeConferenceRecording", "Resume the recording")
