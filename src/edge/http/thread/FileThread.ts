import { Context, Effect } from "effect"
import { Worker } from "node:worker_threads"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { Packed, Unpacked } from "./FileBody.ts"

/** What runs in the thread. */
export const Program = Context.Reference<URL>("trunkline/http/thread/FileThread/Program", {
  defaultValue: () => new URL("./FileWorker.ts", import.meta.url)
})

/** Nothing has happened yet with a body that was to be unpacked. */
const lost = ApiError.of("service_unavailable", "the file was lost before it was read; send it again")

/**
 * Unpacks bodies with files in a thread of its own, one after the other, so that the requests of others are answered
 * meanwhile. The bytes move there and the file moves back. How many wait is bounded by who asks: a long body has its
 * place (`BodyTurns`).
 */
export const make = Effect.gen(function* () {
  const program = yield* Program
  const thread = AskedThread.make<Packed, Unpacked>(() => new Worker(program))
  yield* Effect.addFinalizer(() => thread.end)
  return {
    /** Fails with `service_unavailable` when the thread has died of it, or of another body. */
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
