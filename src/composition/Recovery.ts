import { Effect } from "effect"
import { Calls } from "../call/Call.ts"
import { Recorder } from "../recording/Recorder.ts"
import { Transcriber } from "../transcription/Transcriber.ts"

/**
 * Rebuilds the calls of the process before this one, tells them what it left, and watches from then on over recordings
 * that calls wait for.
 */
export const recover = Effect.gen(function* () {
  const calls = yield* Calls
  const recorder = yield* Recorder
  const transcriber = yield* Transcriber
  const recovered = yield* calls.recover
  const recordings = calls.awaiting("recording")
  yield* recorder.recover(yield* recordings)
  yield* recorder.watch(Effect.map(recordings, (each) => each.filter(({ hasLeft }) => hasLeft)))
  yield* transcriber.recover(yield* calls.awaiting("transcription"))
  if (recovered > 0) yield* Effect.logInfo("calls of the process before this one were recovered", { calls: recovered })
})
