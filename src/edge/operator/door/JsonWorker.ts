import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import * as ThreadPriority from "../../../runtime/process/ThreadPriority.ts"
import type { Parsed } from "./JsonThread.ts"

const parse = (bytes: Uint8Array): Parsed => {
  try {
    return { isJson: true, value: JSON.parse(new TextDecoder().decode(bytes)) as unknown }
  } catch {
    return { isJson: false }
  }
}

/** A thread that parses long bodies of the operator's door, at a lower priority than the other threads. */
AskedThread.serve(parentPort, parse)
ThreadPriority.lower({ platform: process.platform, setPriority })
