import { Worker } from "node:worker_threads"
import { Context, Effect, Layer, Metric } from "effect"
import * as FairSemaphore from "../../../domain/fair/FairSemaphore.ts"
import * as Policies from "../../../domain/fair/Policies.ts"
import type { TenantId } from "../../../domain/Id.ts"
import { SpoolError } from "../Spool.ts"
import type { Encoded, Encoding } from "./EncodeThread.ts"

/** An encoder that makes fewer seconds of sound than this in one second counts as hung. */
const slowestFactor = 4

const encoded = Metric.counter("recording_encoded_seconds_total", {
  description: "Seconds of sound that were encoded as MP3"
})
const deaths = Metric.counter("recording_encoder_deaths_total", {
  description: "Encoding threads that died or hung; the file of one that died is tried once more",
  incremental: true
})

const encoderDied = new SpoolError({ reason: "internal_error", detail: "the encoder died" })

interface Asked extends Encoding {
  readonly tenantId: TenantId
  readonly durationMs: number
}

/** Makes MP3 files in separate threads, tenants in turns. */
export class Encoders extends Context.Service<
  Encoders,
  {
    /** Gives the size of the file. Repeating it makes the same file. */
    readonly encode: (asked: Asked) => Effect.Effect<number, SpoolError>
  }
>()("trunkline/storage/disk/Encoders") {
  /** Runs this program in the threads. `leastMs`: the time that every file has, however short it is. */
  static readonly layerOf = (program: URL, leastMs = 60_000) =>
    Layer.effect(
      Encoders,
      Effect.gen(function* () {
        const line = FairSemaphore.make(Policies.encodings)
        const context = yield* Effect.context()
        const idle: Array<Worker> = []
        const all = new Set<Worker>()
        yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all([...all].map((each) => each.terminate()))))

        const start = (): Worker => {
          const thread = new Worker(program)
          thread.unref()
          all.add(thread)
          thread.on("error", () => undefined)
          thread.once("exit", () => {
            all.delete(thread)
            const at = idle.indexOf(thread)
            if (at >= 0) idle.splice(at, 1)
          })
          return thread
        }

        const run = (encoding: Encoding) =>
          Effect.callback<number, SpoolError>((resume) => {
            const thread = idle.pop() ?? start()
            const quiet = () => {
              thread.off("message", heard)
              thread.off("exit", died)
            }
            const heard = (message: Encoded) => {
              quiet()
              idle.push(thread)
              resume(
                message.type === "encoded"
                  ? Effect.succeed(message.sizeBytes)
                  : Effect.fail(
                      new SpoolError({
                        reason: message.code === null ? "internal_error" : "storage_error",
                        detail: message.code ?? message.detail
                      })
                    )
              )
            }
            const died = () => {
              quiet()
              deaths.updateUnsafe(1, context)
              resume(Effect.fail(encoderDied))
            }
            thread.on("message", heard)
            thread.on("exit", died)
            thread.postMessage(encoding, [])
            return Effect.sync(() => {
              quiet()
              // The end of a hung thread is not waited for.
              void thread.terminate()
            })
          })

        return Encoders.of({
          encode: ({ durationMs, tenantId, ...encoding }) =>
            run(encoding).pipe(
              // The thread is tried once more, because it need not have died of the file: memory may have run out.
              Effect.retry({ times: 1, while: (error) => error === encoderDied }),
              Effect.timeoutOrElse({
                duration: leastMs + durationMs / slowestFactor,
                orElse: () =>
                  Effect.suspend(() => {
                    deaths.updateUnsafe(1, context)
                    return Effect.fail(new SpoolError({ reason: "internal_error", detail: "the encoder hung" }))
                  })
              }),
              line.within(tenantId),
              Effect.catchTag("NoCapacity", () =>
                Effect.fail(new SpoolError({ reason: "internal_error", detail: "too many recordings wait" }))
              ),
              Effect.tap(() => Metric.update(encoded, durationMs / 1000))
            )
        })
      })
    )

  static readonly layer = Encoders.layerOf(new URL("./EncodeWorker.ts", import.meta.url))
}
