import { existsSync, writeFileSync } from "node:fs"
import { parentPort } from "node:worker_threads"
import type { Encoded, Encoding } from "../../../../src/ports/storage/disk/EncodeThread.ts"

/** An encoding thread that dies of some files (of some only the first time), and hangs on others. */
parentPort?.on("message", ({ from }: Encoding) => {
  const seen = `${from}.seen`
  if (from.endsWith("dies") || (from.endsWith("dies-once") && !existsSync(seen))) {
    writeFileSync(seen, "")
    process.exit(1)
  }
  if (from.endsWith("hangs")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  const answer: Encoded = from.endsWith("full")
    ? { type: "failed", code: "ENOSPC", detail: "no space" }
    : { type: "encoded", sizeBytes: from.length }
  parentPort?.postMessage(answer, [])
})
