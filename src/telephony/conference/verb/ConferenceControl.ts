import { Schema } from "effect"
import { BodyField } from "../../call/Call.ts"
import * as ConferenceField from "./ConferenceField.ts"
import { verb } from "./ConferenceVerb.ts"

/** Verbs that change the room itself. */

export const update = verb({
  summary: "Change a conference",
  body: Schema.Struct({
    durationMinutes: Schema.optionalKey(ConferenceField.durationMinutes),
    beepEnabled: Schema.optionalKey(ConferenceField.beepEnabled),
    endOnExit: Schema.optionalKey(
      BodyField.of(Schema.Boolean, "Whether the room is closed when the host leaves.", true)
    ),
    maxParticipants: Schema.optionalKey(ConferenceField.maxParticipants)
  })
    .pipe(
      Schema.encodeKeys({
        durationMinutes: "duration_minutes",
        beepEnabled: "beep_enabled",
        endOnExit: "end_on_exit",
        maxParticipants: "max_participants"
      })
    )
    .pipe(Schema.annotateEncoded({ identifier: "UpdateConference" })),
  // Fewer than are seated, or more than the plan allows.
  errors: ["unprocessable"]
})

export const end = verb({
  summary: "Close the room and hang up all of its members",
  body: Schema.Struct(ConferenceField.region).annotate({ identifier: "EndConference" }),
  errors: []
})
