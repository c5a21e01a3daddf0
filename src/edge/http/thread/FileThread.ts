import { Context, Effect } from "effect"
import { Worker } from "node:worker_threads"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { Packed, Unpacked } from "./FileBody.ts"

/** The program that runs in the thread. */
export const Program = Context.Reference<URL>("trunkline/http/thread/FileThread/Program", {
  defaultValue: () => new URL("./FileWorker.ts", import.meta.url)
})

/** A body that was lost before it was unpacked has had no effect. */
const lost = ApiError.of("service_unavailable", "the file was lost before it was read; send it again")

/**
 * Unpacks bodies with files in a separate thread, one after the other, so that other requests are answered meanwhile.
 * The bytes are transferred to the thread, and the file back. The number that wait is bounded elsewhere: a long body
 * holds a place of `BodyTurns`.
 */
export const make = Effect.gen(function* () {
  const program = yield* Program
  const thread = AskedThread.make<Packed, Unpacked>(() => new Worker(program))
  yield* Effect.addFinalizer(() => thread.end)
  return {
    /** Fails with `service_unavailable` when the thread has died of this body or of another. */
    unpack: (packed: Packed): Effect.Effect<Unpacked, ApiError> =>
      thread
        .ask(
          packed,
          packed.chunks.map(({ buffer }) => buffer)
        )
        .pipe(
          Effect.catchTag("ThreadDied", (died) =>
            Effect.andThen(Effect.logError("the thread that unpacks files died", died), Effect.fail(lost))
          )
        )
  }
})
