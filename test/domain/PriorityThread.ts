import { getPriority, setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as ThreadPriority from "../../src/runtime/process/ThreadPriority.ts"

/** A thread that raises its priority and tells what it has then; 0 is the priority of whoever asks. */
const told = ThreadPriority.raise({ platform: process.platform, setPriority })
parentPort?.postMessage({ told, niceness: getPriority(0) }, [])
