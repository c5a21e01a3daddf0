import { getPriority, setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as ThreadPriority from "../../../src/runtime/process/ThreadPriority.ts"

/** A thread that raises its priority and reports the result; the id 0 means the calling thread. */
const told = ThreadPriority.raise({ platform: process.platform, setPriority })
parentPort?.postMessage({ told, niceness: getPriority(0) }, [])
