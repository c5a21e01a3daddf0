import { Schema } from "effect"
import * as NotBuiltYet from "../../domain/NotBuiltYet.ts"
import * as Field from "./Field.ts"
import { control } from "./Verb.ts"

/** Verbs that change the call itself; what they do stands in `ActionRows`. */

export const answer = control({
  summary: "Answer an inbound call",
  when: "offered",
  body: Schema.Struct({
    record: Schema.optionalKey(
      NotBuiltYet.value(
        Field.of(
          Schema.Literals(["off", "on_answer", "record-from-answer"]),
          "When recording begins; the last two mean the same.",
          "off"
        ),
        ["off"]
      )
    ),
    recordChannels: Field.or(Field.channels, "single"),
    recordFormat: Field.or(Field.format, "mp3"),
    streamUrl: NotBuiltYet.field(
      Field.of(
        Schema.String.annotate({ format: "uri" }),
        "Where the audio is streamed to. WSS only.",
        "wss://example.com/audio"
      )
    ),
    streamTrack: NotBuiltYet.field(
      Field.of(
        Schema.Literals(["inbound_track", "outbound_track", "both_tracks"]),
        "Which side is streamed.",
        "inbound_track"
      )
    )
  })
    .pipe(
      Schema.encodeKeys({
        recordChannels: "record_channels",
        recordFormat: "record_format",
        streamUrl: "stream_url",
        streamTrack: "stream_track"
      })
    )
    .pipe(Schema.annotateEncoded({ identifier: "AnswerCall" }))
})

export const reject = control({
  summary: "Reject an inbound call",
  when: "offered",
  body: Schema.Struct({
    cause: Field.of(Schema.Literals(["user_busy", "rejected"]), "What the caller is told.", "user_busy")
  }).annotate({ identifier: "RejectCall" })
})

export const hangup = control({ summary: "Hang up", when: "live", body: Field.nothing })
