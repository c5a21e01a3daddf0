import { type FileHandle, open, rename } from "node:fs/promises"
import * as Wav from "../../../protocol/audio/file/Wav.ts"
import type { Shape } from "../Spool.ts"

/** A frame of this level or more is sound: -50 dBFS, which is above the noise of a quiet line. */
const soundLevel = 100
const frameMs = 20
/** The silence beside the sound that is kept, so that no word loses its beginning or its end. */
const keptMs = 200
const sampleBytes = 2
/** How many frames are read at once. */
const readFrames = 256

const isSound = (bytes: Uint8Array): boolean => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let energy = 0
  const count = Math.floor(bytes.byteLength / sampleBytes)
  for (let i = 0; i < count; i++) energy += view.getInt16(i * sampleBytes, true) ** 2
  return energy >= count * soundLevel ** 2
}

/** Finds the first frame with sound among those in the order of `at`; -1: there is none. */
const firstSound = async (
  file: FileHandle,
  frameBytes: number,
  count: number,
  at: "from_start" | "from_end"
): Promise<number> => {
  const block = new Uint8Array(readFrames * frameBytes)
  for (let done = 0; done < count; done += readFrames) {
    const wanted = Math.min(readFrames, count - done)
    const first = at === "from_start" ? done : count - done - wanted
    await file.read(block, 0, wanted * frameBytes, Wav.headerLength + first * frameBytes)
    for (let i = 0; i < wanted; i++) {
      const frame = at === "from_start" ? i : wanted - 1 - i
      if (isSound(block.subarray(frame * frameBytes, (frame + 1) * frameBytes))) return first + frame
    }
  }
  return -1
}

/**
 * Leaves out the silence at the two ends of a WAVE file, and returns how many bytes of samples remain. A file that is
 * silent throughout stays as it is. The file is replaced as a whole, so this can be repeated after a crash.
 */
export const trim = async (path: string, shape: Shape, dataBytes: number): Promise<number> => {
  const frameBytes = ((shape.sampleRate * frameMs) / 1000) * shape.channels * sampleBytes
  const kept = keptMs / frameMs
  const file = await open(path, "r")
  try {
    const count = Math.floor(dataBytes / frameBytes)
    const first = await firstSound(file, frameBytes, count, "from_start")
    if (first === -1) return dataBytes
    const last = await firstSound(file, frameBytes, count, "from_end")
    const from = Math.max(0, first - kept) * frameBytes
    const to = Math.min(dataBytes, (last + 1 + kept) * frameBytes)
    if (from === 0 && to === dataBytes) return dataBytes
    const target = await open(`${path}.part`, "w", 0o600)
    try {
      await target.write(Wav.header(shape, to - from))
      const block = new Uint8Array(readFrames * frameBytes)
      for (let at = from; at < to; at += block.length) {
        const { bytesRead } = await file.read(block, 0, Math.min(block.length, to - at), Wav.headerLength + at)
        if (bytesRead === 0) break
        await target.write(block, 0, bytesRead, Wav.headerLength + at - from)
      }
      await target.sync()
    } finally {
      await target.close()
    }
    await rename(`${path}.part`, path)
    return to - from
  } finally {
    await file.close()
  }
}
