import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { Worker } from "node:worker_threads"
import { Effect } from "effect"

/**
 * A port of 127.0.0.1 that leads to `target` and takes more than a second to connect to: its queue of connections is
 * full until `busyMs` have passed, so the kernel drops the first SYN, and sends the next one after a second.
 */
export const start = (target: number, busyMs = 700) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const worker = new Worker(new URL("BusyListener.fixture.ts", import.meta.url), { workerData: { busyMs, target } })
      const [port] = (await once(worker, "message")) as [number]
      worker.postMessage("be busy", [])
      const waiting: Array<Socket> = []
      // The queue holds one connection more than its length says.
      for (let count = 0; count < 2; count++) {
        const socket = connect(port, "127.0.0.1").on("error", () => undefined)
        waiting.push(socket)
        await once(socket, "connect")
      }
      return { port, worker, waiting }
    }),
    ({ waiting, worker }) =>
      Effect.promise(() => {
        for (const socket of waiting) socket.destroy()
        return worker.terminate()
      })
  )
