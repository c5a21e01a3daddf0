import { Effect } from "effect"
import { Calls } from "../../telephony/call/Call.ts"
import { Conferences } from "../../telephony/conference/Conference.ts"
import { Recorder } from "../../telephony/recording/Recorder.ts"
import { Transcriber } from "../../telephony/transcription/Transcriber.ts"

/**
 * Rebuilds the calls and then the conferences of the previous process, reports the recordings and transcriptions that
 * it left to them, and from then on watches the recordings that they wait for.
 */
export const recover = Effect.gen(function* () {
  const calls = yield* Calls
  const recorder = yield* Recorder
  const transcriber = yield* Transcriber
  const recovered = yield* calls.recover
  const conferences = yield* Conferences
  const rooms = yield* conferences.recover
  const recordings = Effect.zipWith(calls.awaiting("recording"), conferences.awaitingRecordings, (ofCalls, ofRooms) => [
    ...ofCalls,
    ...ofRooms.map((each) => ({ ...each, wasAnswered: true }))
  ])
  yield* recorder.recover(yield* recordings)
  yield* recorder.watch(Effect.map(recordings, (each) => each.filter(({ hasLeft }) => hasLeft)))
  yield* transcriber.recover(yield* calls.awaiting("transcription"))
  if (recovered + rooms > 0)
    yield* Effect.logInfo("calls and conferences of the process before this one were recovered", {
      calls: recovered,
      conferences: rooms
    })
})
