import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as ThreadPriority from "../../domain/ThreadPriority.ts"
import * as FileBody from "./FileBody.ts"
import type { FromUnpacker, ToUnpacker } from "./FileThread.ts"

/** A thread that unpacks bodies with files, and takes what the others leave of the processor. */
const port = parentPort
if (port === null) throw new Error("FileWorker is a worker thread")

port.on("message", ({ id, packed }: ToUnpacker) => {
  const unpacked = FileBody.unpack(packed)
  const file = unpacked.type === "unpacked" ? unpacked.file : null
  // A short file shares its memory with other ones (Buffer.poolSize), so it is copied.
  const moved = file !== null && file.buffer.byteLength === file.byteLength ? [file.buffer] : []
  port.postMessage({ id, unpacked } satisfies FromUnpacker, moved)
})
ThreadPriority.lower({ platform: process.platform, setPriority })
