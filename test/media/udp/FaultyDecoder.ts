import { parentPort } from "node:worker_threads"
import type { FromDecoder, ToDecoder } from "../../../src/media/udp/decode/DecodeThread.ts"

/** A decoding thread that gives one sample after the other of each file, hangs on some files and dies of others. */
const port = parentPort
if (port === null) throw new Error("FaultyDecoder is a worker thread")
const say = (message: FromDecoder) => port.postMessage(message)
const threadMs = () => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}
const files = new Map<number, { readonly kind: string | null; at: number }>()

port.on("message", (message: ToDecoder) => {
  if (message.type === "open") return void files.set(message.id, { kind: message.file.contentType, at: 0 })
  if (message.type === "close") return void files.delete(message.id)
  const file = files.get(message.id)
  if (file === undefined) throw new Error("a file that is not open")
  if (file.kind === "dies") process.exit(1)
  while (file.kind === "hangs");
  // The thread uses no processor, like one that gets none.
  if (file.kind === "starves") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
  const samples = Int16Array.of(++file.at)
  say({ id: message.id, cpuMs: 1, threadMs: threadMs(), type: "piece", piece: { samples, isLast: file.at === 3 } })
})
say({ type: "ready" })
