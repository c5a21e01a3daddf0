import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs"
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { createMp3Encoder } from "wasm-media-encoders"
import * as Wav from "../../../protocol/audio/file/Wav.ts"
import * as ThreadPriority from "../../../runtime/process/ThreadPriority.ts"
import type { Encoded, Encoding } from "./EncodeThread.ts"

/** A thread that makes MP3 files, one at a time, slice by slice. It may be ended in the middle of one. */
const port = parentPort
if (port === null) throw new Error("EncodeWorker is a worker thread")

const sliceFrames = 65_536

/**
 * Constant rates in kbit/s for each channel. With a constant rate a file without a Xing header has a known length and
 * can be searched.
 */
const bitrates: Readonly<Record<number, 16 | 32>> = { 8000: 16, 16000: 32 }

/** Splits interleaved samples into one array for each channel, from -1 to 1. */
const split = (bytes: DataView, frames: number, channels: 1 | 2): ReadonlyArray<Float32Array> =>
  Array.from({ length: channels }, (_, channel) =>
    Float32Array.from({ length: frames }, (_, i) => bytes.getInt16(2 * (i * channels + channel), true) / 32_768)
  )

const writeAll = (file: number, bytes: Uint8Array): number => {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done)
  return bytes.length
}

const encode = async ({ from, shape, to }: Encoding): Promise<number> => {
  const { channels, sampleRate } = shape
  const encoder = await createMp3Encoder()
  const perChannel = bitrates[sampleRate] ?? 32
  encoder.configure({ channels, sampleRate, bitrate: channels === 1 ? perChannel : perChannel === 16 ? 32 : 64 })
  const part = `${to}.part`
  const [input, output] = [openSync(from, "r"), openSync(part, "w", 0o600)]
  try {
    const slice = new Uint8Array(sliceFrames * channels * 2)
    const view = new DataView(slice.buffer)
    let size = 0
    for (let at = Wav.headerLength; ;) {
      const read = readSync(input, slice, 0, slice.length, at)
      const frames = Math.floor(read / (channels * 2))
      if (frames === 0) break
      at += frames * channels * 2
      size += writeAll(output, encoder.encode(split(view, frames, channels)))
    }
    size += writeAll(output, encoder.finalize())
    fsyncSync(output)
    renameSync(part, to)
    return size
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  } finally {
    closeSync(input)
    closeSync(output)
  }
}

const codeOf = (error: unknown): string | null =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null

port.on("message", (encoding: Encoding) => {
  void encode(encoding).then(
    (sizeBytes) => port.postMessage({ type: "encoded", sizeBytes } satisfies Encoded),
    (error: unknown) =>
      port.postMessage({ type: "failed", code: codeOf(error), detail: String(error) } satisfies Encoded)
  )
})

ThreadPriority.lower({ platform: process.platform, setPriority })
