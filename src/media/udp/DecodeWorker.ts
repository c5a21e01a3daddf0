import { parentPort } from "node:worker_threads"
import { Result } from "effect"
import * as Decode from "../../audio/Decode.ts"
import { limits } from "../AudioDecoder.ts"
import type { Decoded, ToDecode } from "./AudioDecoderThread.ts"

/** The thread that decodes sound files, one at a time; it may be ended in the middle of one. */
const port = parentPort
if (port === null) throw new Error("DecodeWorker is a worker thread")

/** Shared, so that the cache and the media thread read the same memory. */
const shared = (samples: Int16Array): Int16Array => {
  const copy = new Int16Array(new SharedArrayBuffer(samples.byteLength))
  copy.set(samples)
  return copy
}

port.on("message", ({ bytes, contentType, rate }: ToDecode) => {
  void Decode.decode(bytes, contentType, rate, limits).then((result) => {
    const decoded: Decoded = Result.isSuccess(result) ? { samples: shared(result.success) } : { reason: result.failure }
    port.postMessage(decoded)
  })
})
