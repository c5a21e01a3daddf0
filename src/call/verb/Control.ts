import { Schema } from "effect"
import * as NotBuiltYet from "../../domain/NotBuiltYet.ts"
import * as Field from "./Field.ts"
import { control } from "./Verb.ts"

/** Verbs that change the call itself; what they do stands in `ActionRows`. */

export const answer = control({
  summary: "Answer an inbound call",
  when: "offered",
  body: Schema.Struct({
    record: Schema.optionalKey(NotBuiltYet.value(Schema.Literals(["off", "on_answer", "record-from-answer"]), ["off"])),
    recordChannels: Field.or(Field.channels, "single"),
    recordFormat: Field.or(Field.format, "mp3"),
    streamUrl: NotBuiltYet.field(Field.wssUrl),
    streamTrack: NotBuiltYet.field(Field.track)
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
  body: Schema.Struct({ cause: Schema.Literals(["user_busy", "rejected"]) }).annotate({ identifier: "RejectCall" })
})

export const hangup = control({ summary: "Hang up", when: "live", body: Field.nothing })
