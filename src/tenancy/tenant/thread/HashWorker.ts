import { scryptSync } from "node:crypto"
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import * as ThreadPriority from "../../../runtime/process/ThreadPriority.ts"
import type { Work } from "../Password.ts"

/** A thread that hashes passwords, at a lower priority than the other threads. */
AskedThread.serve(parentPort, ({ cost, length, password, salt }: Work): Uint8Array =>
  scryptSync(password, salt, length, cost)
)
ThreadPriority.lower({ platform: process.platform, setPriority })
