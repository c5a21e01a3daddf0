import { Effect, Schema } from "effect"
import * as Id from "../../../domain/Id.ts"
import { Recordings } from "../../../telephony/recording/Recording.ts"
import * as Operation from "../door/Operation.ts"

/** `recording restore`, guide/recordings.md#states. */
export const make = Effect.map(Recordings, (recordings) => [
  Operation.make("recording/restore", Schema.Struct({ recording_id: Id.spelled("rec") }), ({ recording_id: id }) =>
    Effect.tap(recordings.restore(id), () => Effect.logInfo("a recording was brought back by the operator", { id }))
  )
])
