import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { ToBare } from "./BarePlane.thread.ts"

/** The bare thread; ends with its scope. */
export const start = Effect.gen(function* () {
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(new URL("./BarePlane.thread.ts", import.meta.url))),
    (worker) => Effect.promise(() => worker.terminate())
  )
  const ask = (message: ToBare) =>
    Effect.promise(
      () =>
        new Promise<ReadonlyArray<number>>((resolve) => {
          worker.once("message", resolve)
          worker.postMessage(message, [])
        })
    )
  return {
    open: (calls: number, peerPort: number) => ask({ type: "open", calls, peerPort, isRelay: false }),
    /** Makes each pair of neighbouring calls pass their packets on to each other. */
    relay: (calls: number, peerPort: number) => ask({ type: "open", calls, peerPort, isRelay: true }),
    close: ask({ type: "close" })
  }
})
