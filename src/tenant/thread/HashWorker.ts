import { scryptSync } from "node:crypto"
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as ThreadPriority from "../../domain/ThreadPriority.ts"
import type { FromHasher, ToHasher } from "./HashThreads.ts"

/** A thread that hashes passwords, and takes what the others leave of the processor. */
const port = parentPort
if (port === null) throw new Error("HashWorker is a worker thread")

port.on("message", ({ cost, id, length, password, salt }: ToHasher) => {
  port.postMessage({ id, derived: scryptSync(password, salt, length, cost) } satisfies FromHasher)
})
ThreadPriority.lower({ platform: process.platform, setPriority })
