import { Effect, Layer } from "effect"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import { Hashing, type Work } from "../Password.ts"

/** One core is left for the thread that answers requests. */
const threads = Math.min(2, Math.max(1, availableParallelism() - 1))

/** Starts this many threads with another program. */
export const layerOf = (count: number, program: URL) =>
  Layer.effect(
    Hashing,
    Effect.gen(function* () {
      const pool = Array.from({ length: count }, () => AskedThread.make<Work, Uint8Array>(() => new Worker(program)))
      yield* Effect.addFinalizer(() => Effect.forEach(pool, ({ end }) => end, { concurrency: "unbounded" }))
      return {
        places: count,
        scrypt: (work: Work) =>
          Effect.suspend(() =>
            Effect.orDie(pool.reduce((least, thread) => (thread.size() < least.size() ? thread : least)).ask(work))
          )
      }
    })
  )

/** Hashes passwords in separate threads, at a lower priority than those that answer requests. */
export const layer = layerOf(threads, new URL("./HashWorker.ts", import.meta.url))
