import { Schema } from "effect"
import { disagreement } from "../../../domain/schema/CodedCheck.ts"
import * as CustomHeader from "../../../domain/CustomHeader.ts"
import * as Field from "./Field.ts"
import * as StreamBody from "./StreamBody.ts"
import { control, reservationErrors } from "./Verb.ts"

/** Verbs that change the call itself; their behaviour is in `ActionRows`. */

export const answer = control({
  summary: "Answer an inbound call",
  when: "offered",
  body: Schema.Struct({
    record: Schema.optionalKey(
      Field.of(
        Schema.Literals(["off", "on_answer", "record-from-answer"]),
        "When recording begins; the last two mean the same.",
        "off"
      )
    ),
    recordChannels: Field.or(Field.channels, "single"),
    recordFormat: Field.or(Field.format, "mp3"),
    customHeaders: Schema.optionalKey(CustomHeader.CustomHeaders),
    streamUrl: StreamBody.urlOrNull,
    ...StreamBody.fields
  })
    .pipe(
      Schema.encodeKeys({
        recordChannels: "record_channels",
        recordFormat: "record_format",
        customHeaders: "custom_headers",
        streamUrl: "stream_url",
        ...StreamBody.names
      })
    )
    .check(disagreement(StreamBody.fault))
    .pipe(Schema.annotateEncoded({ identifier: "AnswerCall" })),
  errors: reservationErrors,
  sockets: ({ streamUrl }) => (streamUrl === null ? {} : { stream_url: streamUrl })
})

export const reject = control({
  summary: "Reject an inbound call",
  when: "offered",
  body: Schema.Struct({
    cause: Field.of(Schema.Literals(["user_busy", "rejected"]), "What the caller is told.", "user_busy")
  }).annotate({ identifier: "RejectCall" })
})

export const hangup = control({ summary: "Hang up", when: "live", body: Field.nothing })
