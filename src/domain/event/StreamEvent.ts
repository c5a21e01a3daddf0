import * as Field from "../schema/Field.ts"
import * as StreamField from "../schema/StreamField.ts"
import * as Wire from "../schema/Wire.ts"
import type { EmittedOf, Family } from "./PublicEvent.ts"

const ofStream = {
  callId: Field.callId(),
  legId: Field.legId(),
  streamId: Field.streamId,
  ...StreamField.shown,
  customerReference: Field.customerReference
}

export const rows = {
  "stream.started": {
    when: "A media stream is connected.",
    data: Wire.struct({ ...ofStream, startedAt: Field.time("When it was connected.") })
  },
  "stream.stopped": {
    when: "A media stream ended.",
    data: Wire.struct({
      ...ofStream,
      stoppedAt: Field.time("When it ended."),
      durationSeconds: Field.seconds("How long it was connected.")
    })
  },
  "stream.failed": {
    when: "A media stream could not be connected, or broke.",
    data: Wire.struct({
      ...ofStream,
      failureReason: Field.oneOf(
        "`connection_failed`: it could not be connected, broke, or read too slowly. `protocol_error`: its server broke " +
          "the rules. `carrier_error`: what went wrong is on this side.",
        StreamField.failures
      ),
      detail: Field.textOrNull("More about it, for people; may change.", "the server answered 403"),
      failedAt: Field.time("When it failed.")
    })
  }
} as const satisfies Family<"stream">

export type StreamEvent = EmittedOf<typeof rows>
