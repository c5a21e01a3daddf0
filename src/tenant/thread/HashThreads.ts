import { Effect, Layer } from "effect"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Hashing, type Work } from "../Password.ts"

/** To a thread. */
export type ToHasher = Work & { readonly id: number }

/** From a thread. */
export interface FromHasher {
  readonly id: number
  readonly derived: Uint8Array
}

/** One core is left to the thread that answers requests. */
const threads = Math.min(2, Math.max(1, availableParallelism() - 1))

/** The same with so many threads, and another program in them. */
export const layerOf = (count: number, program: URL) =>
  Layer.effect(
    Hashing,
    Effect.gen(function* () {
      const pool = Array.from({ length: count }, () => make(program))
      yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(pool.map(({ close }) => close()))))
      return {
        places: count,
        scrypt: (work: Work) =>
          Effect.suspend(() =>
            pool.reduce((least, thread) => (thread.size() < least.size() ? thread : least)).scrypt(work)
          )
      }
    })
  )

/** Hashes passwords in threads of their own, behind those that answer requests in priority. */
export const layer = layerOf(threads, new URL("./HashWorker.ts", import.meta.url))

/**
 * A thread that hashes, one password after the other. It is started for the first one, does not keep the process alive,
 * and what it had when it died dies with it; the next password gets a new thread.
 */
const make = (program: URL) => {
  const waiting = new Map<number, (outcome: Effect.Effect<Uint8Array>) => void>()
  let worker: Worker | null = null
  let lastId = 0

  const start = (): Worker => {
    const thread = new Worker(program)
    thread.unref()
    let why: unknown = new Error("the thread that hashes passwords ended")
    thread.on("message", ({ derived, id }: FromHasher) => {
      waiting.get(id)?.(Effect.succeed(derived))
      waiting.delete(id)
    })
    thread.on("error", (error) => (why = error))
    thread.on("exit", () => {
      worker = null
      // Whoever hears of it may ask again at once.
      const lost = [...waiting.values()]
      waiting.clear()
      for (const settle of lost) settle(Effect.die(why))
    })
    return thread
  }

  return {
    size: () => waiting.size,
    scrypt: (work: Work) =>
      Effect.callback<Uint8Array>((resume) => {
        const id = ++lastId
        waiting.set(id, resume)
        worker ??= start()
        worker.postMessage({ ...work, id } satisfies ToHasher, [])
      }),
    close: async (): Promise<void> => {
      await worker?.terminate()
    }
  }
}
