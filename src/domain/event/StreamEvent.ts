import { Schema } from "effect"
import * as Field from "../Field.ts"
import type { Family } from "./PublicEvent.ts"

const ofStream = {
  call_id: Field.callId(),
  leg_id: Field.legId(),
  stream_id: Field.streamId,
  stream_url: Field.text("Where it leads, without its query, which may hold a token.", "wss://media.example/stream"),
  stream_track: Field.oneOf("What the leg says, what it hears, or both.", [
    "inbound_track",
    "outbound_track",
    "both_tracks"
  ]),
  stream_codec: Schema.NullOr(Schema.Literals(["PCMU", "PCMA", "G722", "OPUS", "L16"])).annotate({
    description: "Null: the codec of the call.",
    examples: ["PCMU"]
  }),
  customer_reference: Field.customerReference
}

export const rows = {
  "stream.started": {
    when: "A media stream is connected.",
    emitted: false,
    data: Schema.Struct({ ...ofStream, started_at: Field.moment("When it was connected.") })
  },
  "stream.stopped": {
    when: "A media stream ended.",
    emitted: false,
    data: Schema.Struct({
      ...ofStream,
      stopped_at: Field.moment("When it ended."),
      duration_seconds: Field.seconds("How long it was connected.")
    })
  },
  "stream.failed": {
    when: "A media stream could not be connected, or broke.",
    emitted: false,
    data: Schema.Struct({
      ...ofStream,
      failure_reason: Field.oneOf("What went wrong.", ["connection_failed", "protocol_error", "carrier_error"]),
      failed_at: Field.moment("When it failed.")
    })
  }
} as const satisfies Family<"stream">
