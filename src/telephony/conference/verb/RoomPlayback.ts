import { Schema } from "effect"
import { BodyField, SpeakBody } from "../../call/Call.ts"
import * as ConferenceField from "./ConferenceField.ts"
import { verb } from "./ConferenceVerb.ts"

/** Verbs that play sound to the whole room or some members. Each playback ends with one `conference.playback_ended`. */

export const play = verb({
  summary: "Play WAV or MP3 audio from a URL",
  body: Schema.Struct({
    url: BodyField.httpsUrl("A WAV or MP3 file."),
    loop: BodyField.or(BodyField.of(BodyField.int(1, 100), "How many times it is played.", 2), 1),
    legIds: ConferenceField.legIdsOrRoom,
    ...ConferenceField.region
  })
    .pipe(Schema.encodeKeys({ legIds: "leg_ids" }))
    .pipe(Schema.annotateEncoded({ identifier: "PlayToConference" })),
  errors: ["member_not_found", "conference_action_invalid", "conflict"],
  targets: ({ url }) => ({ url })
})

export const speak = verb({
  summary: "Speak a text",
  body: Schema.Struct({
    payload: SpeakBody.payload("What is said.", "The meeting begins."),
    ...SpeakBody.manner,
    legIds: ConferenceField.legIdsOrRoom,
    ...ConferenceField.region
  })
    .pipe(Schema.encodeKeys({ legIds: "leg_ids", payloadType: "payload_type" }))
    .pipe(Schema.annotateEncoded({ identifier: "SpeakToConference" })),
  // `unprocessable`: the voice does not exist.
  errors: ["member_not_found", "conference_action_invalid", "conflict", "unprocessable"],
  speaks: SpeakBody.speaking
})

export const stop = verb({
  summary: "Stop playback and speech",
  body: Schema.Struct({ legIds: ConferenceField.legIdsOrRoom, ...ConferenceField.region })
    .pipe(Schema.encodeKeys({ legIds: "leg_ids" }))
    .pipe(Schema.annotateEncoded({ identifier: "StopConferencePlayback" })),
  errors: ["member_not_found"]
})
