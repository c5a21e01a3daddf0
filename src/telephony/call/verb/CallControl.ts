import { Schema } from "effect"
import { disagreement } from "../../../domain/schema/CodedCheck.ts"
import * as CustomHeader from "../../../domain/CustomHeader.ts"
import * as BodyField from "../../verb/BodyField.ts"
import * as StreamBody from "./StreamBody.ts"
import { reservationErrors } from "../../verb/Verb.ts"
import { control } from "./CallVerb.ts"

/** Verbs that change the call itself; their behaviour is in `OnAction`. */

export const answer = control({
  summary: "Answer an inbound call",
  when: "offered",
  body: BodyField.body("AnswerCall", {
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
  }).check(disagreement(StreamBody.fault)),
  errors: reservationErrors,
  sockets: ({ streamUrl }) => (streamUrl === null ? {} : { stream_url: streamUrl })
})

export const reject = control({
  summary: "Reject an inbound call",
  when: "offered",
  // A plain struct has an error of its own for a body that is no object.
  body: Schema.Struct({
    cause: BodyField.of(Schema.Literals(["user_busy", "rejected"]), "What the caller is told.", "user_busy")
  }).annotate({ identifier: "RejectCall" })
})

export const hangup = control({ summary: "Hang up", when: "live", body: BodyField.nothing })
