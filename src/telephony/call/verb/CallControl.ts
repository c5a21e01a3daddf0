import { Schema } from "effect"
import { disagreement } from "../../../domain/schema/CodedCheck.ts"
import * as CustomHeader from "../../../domain/CustomHeader.ts"
import * as BodyField from "./BodyField.ts"
import * as StreamBody from "./StreamBody.ts"
import { control, reservationErrors } from "./CallVerb.ts"

/** Verbs that change the call itself; their behaviour is in `OnAction`. */

export const answer = control({
  summary: "Answer an inbound call",
  when: "offered",
  body: Schema.Struct({
    record: Schema.optionalKey(
      BodyField.of(
        Schema.Literals(["off", "on_answer", "record-from-answer"]),
        "When recording begins; the last two mean the same.",
        "off"
      )
    ),
    recordChannels: BodyField.or(BodyField.channels, "single"),
    recordFormat: BodyField.or(BodyField.format, "mp3"),
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
    cause: BodyField.of(Schema.Literals(["user_busy", "rejected"]), "What the caller is told.", "user_busy")
  }).annotate({ identifier: "RejectCall" })
})

export const hangup = control({ summary: "Hang up", when: "live", body: BodyField.nothing })
