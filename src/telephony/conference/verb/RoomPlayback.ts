import * as BodyField from "../../verb/BodyField.ts"
import * as SpeechBody from "../../verb/SpeechBody.ts"
import * as RoomPlaybacks from "../machine/RoomPlaybacks.ts"
import * as ConferenceField from "./ConferenceField.ts"
import { verb } from "./ConferenceVerb.ts"

/** Verbs that play sound to the whole room or some members. Each playback ends with one `conference.playback_ended`. */

export const play = verb({
  summary: "Play a sound file from a URL",
  when: "open",
  body: BodyField.body("PlayToConference", {
    url: BodyField.httpsUrl("A sound file: WAV, AIFF, MP3, FLAC or Ogg."),
    loop: BodyField.or(BodyField.of(BodyField.int(1, 100), "How many times it is played.", 2), 1),
    legIds: ConferenceField.legIdsOrRoom,
    ...ConferenceField.region
  }),
  errors: ["member_not_found", "conference_action_invalid", "conflict"],
  targets: ({ url }) => ({ url }),
  act: ({ builder, context }, { legIds, loop, url }) =>
    RoomPlaybacks.start(builder, (id) => ({ type: "play", id, url, loop, target: "self" }), legIds, context)
})

export const speak = verb({
  summary: "Speak a text",
  when: "open",
  body: BodyField.body("SpeakToConference", {
    payload: SpeechBody.payload("What is said.", "The meeting begins."),
    ...SpeechBody.manner,
    legIds: ConferenceField.legIdsOrRoom,
    ...ConferenceField.region
  }),
  // `unprocessable`: the voice does not exist.
  errors: ["member_not_found", "conference_action_invalid", "conflict", "unprocessable"],
  speaks: SpeechBody.speaking,
  act: ({ builder, context }, body) => {
    const speech = SpeechBody.speechOf(body, body.payload)
    return RoomPlaybacks.start(builder, (id) => ({ type: "speak", id, speech }), body.legIds, context)
  }
})

export const stop = verb({
  summary: "Stop playback and speech",
  when: "open",
  body: BodyField.body("StopConferencePlayback", { legIds: ConferenceField.legIdsOrRoom, ...ConferenceField.region }),
  errors: ["member_not_found"],
  act: ({ builder, context }, { legIds }) => RoomPlaybacks.stop(builder, legIds, context)
})
