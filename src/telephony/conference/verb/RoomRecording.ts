import { Schema } from "effect"
import { BodyField, reservationErrors } from "../../call/Call.ts"
import * as ConferenceField from "./ConferenceField.ts"
import { verb } from "./ConferenceVerb.ts"

/** Verbs that record the room; the outcome is `recording.completed` or `recording.failed`. */

export const recordStart = verb({
  summary: "Record the room; the result is `recording.completed`",
  body: Schema.Struct({
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
    ...ConferenceField.region
  })
    .pipe(Schema.encodeKeys({ hasBeep: "play_beep" }))
    .pipe(Schema.annotateEncoded({ identifier: "RecordConference" })),
  errors: ["conference_action_invalid", "conflict", ...reservationErrors]
})

const nothing = (identifier: string) => Schema.Struct(ConferenceField.region).annotate({ identifier })

export const recordStop = verb({
  summary: "End the recording; it is stored then",
  body: nothing("StopConferenceRecording"),
  errors: ["recording_already_stopped"]
})
export const recordPause = verb({
  summary: "Pause the recording: silence until it is resumed, free of charge",
  body: nothing("PauseConferenceRecording"),
  errors: ["conference_action_invalid", "conflict"]
})
export const recordResume = verb({
  summary: "Resume the recording",
  body: nothing("ResumeConferenceRecording"),
  errors: ["conference_action_invalid", "conflict"]
})
