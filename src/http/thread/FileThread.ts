import { Effect } from "effect"
import { Worker } from "node:worker_threads"
import type { Packed, Unpacked } from "./FileBody.ts"

/** To the thread. */
export interface ToUnpacker {
  readonly id: number
  readonly packed: Packed
}

/** From the thread. */
export interface FromUnpacker {
  readonly id: number
  readonly unpacked: Unpacked
}

/**
 * Unpacks bodies with files in a thread of its own, one after the other, so that the requests of others are answered
 * meanwhile. The bytes move there: the caller has them no more. How many wait is bounded by who asks: a long body has
 * its place (`BodyTurns`). The thread is started for the first body and does not keep the process alive; what it had
 * when it died dies with it, and the next body gets a new one.
 */
export const make = Effect.gen(function* () {
  const waiting = new Map<number, (outcome: Effect.Effect<Unpacked>) => void>()
  let worker: Worker | null = null
  let lastId = 0

  const start = (): Worker => {
    const thread = new Worker(new URL("./FileWorker.ts", import.meta.url))
    thread.unref()
    let why: unknown = new Error("the thread that unpacks files ended")
    thread.on("message", ({ id, unpacked }: FromUnpacker) => {
      waiting.get(id)?.(Effect.succeed(unpacked))
      waiting.delete(id)
    })
    thread.on("error", (error) => (why = error))
    thread.on("exit", () => {
      worker = null
      const lost = [...waiting.values()]
      waiting.clear()
      for (const settle of lost) settle(Effect.die(why))
    })
    return thread
  }
  yield* Effect.addFinalizer(() => Effect.promise(async () => void (await worker?.terminate())))

  return {
    unpack: (packed: Packed) =>
      Effect.callback<Unpacked>((resume) => {
        const id = ++lastId
        waiting.set(id, resume)
        worker ??= start()
        worker.postMessage({ id, packed } satisfies ToUnpacker, [packed.bytes.buffer])
      })
  }
})
