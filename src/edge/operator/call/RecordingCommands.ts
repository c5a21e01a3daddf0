import { Effect } from "effect"
import * as Id from "../../../domain/Id.ts"
import { Recordings } from "../../../telephony/recording/Recording.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"

/** guide/recordings.md#states. */
export const commands = [
  Command.make("recording restore", {
    summary: "brings an archived recording back, so that its tenant can download it again",
    input: { recordingId: Flag.argument("id", Id.spelled("rec"), "the recording") },
    run: Effect.fnUntraced(function* ({ recordingId: id }) {
      const restored = yield* (yield* Recordings).restore(id)
      yield* Effect.logInfo("a recording was brought back by the operator", { id })
      return restored
    })
  })
]
