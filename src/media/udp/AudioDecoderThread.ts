import { Worker } from "node:worker_threads"
import { Duration, Effect, Layer, Semaphore } from "effect"
import type * as Decode from "../../audio/Decode.ts"
import type { SampleRate } from "../../audio/SampleRate.ts"
import { AudioDecoder, AudioUnreadable } from "../AudioDecoder.ts"

/** To the decoding thread. */
export interface ToDecode {
  readonly bytes: Uint8Array
  readonly contentType: string | null
  readonly rate: SampleRate
}

/** From it: samples in shared memory, or why not. */
export type Decoded = { readonly samples: Int16Array } | { readonly reason: Decode.Fault }

/** The longest file that is allowed takes a few seconds. */
const decodeTimeout = Duration.seconds(20)

/**
 * Decodes sound files in a thread of its own, one after the other: neither a long file nor a codec that hangs on
 * hostile bytes holds up a call. A thread that takes too long is ended, and the file counts as of no known format.
 *
 * The thread is started at once, so that the first file does not wait for it, and does not keep the process alive.
 */
export const layer = Layer.effect(
  AudioDecoder,
  Effect.gen(function* () {
    const one = yield* Semaphore.make(1)
    let worker: Worker | null = null

    const end = Effect.promise(async () => {
      const ended = worker
      worker = null
      await ended?.terminate()
    })
    yield* Effect.addFinalizer(() => end)

    const thread = (): Worker => {
      if (worker !== null) return worker
      // The codec writes remarks on a file to stderr, which nobody reads.
      const started = new Worker(new URL("./DecodeWorker.ts", import.meta.url), { stderr: true })
      started.stderr.resume()
      started.unref()
      started.on("exit", () => {
        if (worker === started) worker = null
      })
      worker = started
      return started
    }

    thread()
    const unreadable = new AudioUnreadable({ reason: "unsupported_format" })

    const decodeOne = (bytes: Uint8Array, contentType: string | null, rate: SampleRate) =>
      Effect.callback<Int16Array, AudioUnreadable>((resume) => {
        const decoder = thread()
        const settle = (outcome: Effect.Effect<Int16Array, AudioUnreadable>) => {
          decoder.off("message", onMessage)
          decoder.off("error", onDeath)
          decoder.off("exit", onDeath)
          resume(outcome)
        }
        const onMessage = (decoded: Decoded) =>
          settle("samples" in decoded ? Effect.succeed(decoded.samples) : Effect.fail(new AudioUnreadable(decoded)))
        const onDeath = () => settle(Effect.fail(unreadable))
        decoder.on("message", onMessage)
        decoder.on("error", onDeath)
        decoder.on("exit", onDeath)
        // A view would take its whole buffer along.
        const own = bytes.slice()
        const request: ToDecode = { bytes: own, contentType, rate }
        decoder.postMessage(request, [own.buffer])
      })

    return {
      decode: (bytes, contentType, rate) =>
        decodeOne(bytes, contentType, rate).pipe(
          // The answer for an interrupted or late file would be taken for that of the next file.
          Effect.onInterrupt(() => end),
          Effect.timeoutOrElse({ duration: decodeTimeout, orElse: () => Effect.fail(unreadable) }),
          one.withPermits(1)
        )
    }
  })
)
