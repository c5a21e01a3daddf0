import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import * as ThreadPriority from "../../../runtime/process/ThreadPriority.ts"
import * as FileBody from "./FileBody.ts"

/** A thread that unpacks bodies with files, at a lower priority than the other threads. */
AskedThread.serve(parentPort, FileBody.unpack, (unpacked) => {
  const bytes = unpacked.type === "unpacked" ? unpacked.file?.bytes : undefined
  // A short file shares its memory with others (Buffer.poolSize), so it is copied.
  return bytes !== undefined && bytes.buffer.byteLength === bytes.byteLength ? [bytes.buffer] : []
})
ThreadPriority.lower({ platform: process.platform, setPriority })
