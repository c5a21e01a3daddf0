import { MPEGDecoder } from "mpg123-decoder"
import * as SoundSource from "./SoundSource.ts"

interface FrameHeader {
  /** The length in octets, header included. */
  readonly length: number
  readonly samples: number
  readonly sampleRate: number
}

/** Reads the frame header at `at`, ISO/IEC 11172-3 section 2.4.2.3; null: there is no valid one. */
const frameAt = (bytes: Uint8Array, at: number): FrameHeader | null => {
  const [sync, second, third] = [bytes[at], bytes[at + 1], bytes[at + 2]]
  if (sync !== 0xff || second === undefined || third === undefined || (second & 0xe0) !== 0xe0) return null
  const version = (second >> 3) & 3
  const layer = (second >> 1) & 3
  const bitrate = bitrates[version === 3 ? 0 : 1]?.[third >> 4] ?? 0
  const sampleRate = sampleRates[version]?.[(third >> 2) & 3] ?? 0
  // Only layer III is accepted, because announcements do not use the others.
  if (layer !== 1 || bitrate === 0 || sampleRate === 0) return null
  const samples = version === 3 ? 1152 : 576
  return { length: Math.floor((samples * 125 * bitrate) / sampleRate) + ((third >> 1) & 1), samples, sampleRate }
}

/** kbit/s by index, MPEG-1 and MPEG-2/2.5; 0 is free format or forbidden. */
const bitrates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
]
/** Sample rates by version bits: 2.5, reserved, 2, 1. */
const sampleRates = [[11_025, 12_000, 8000], [], [22_050, 24_000, 16_000], [44_100, 48_000, 32_000]]

/** How far after the tag the first frame is searched for: some writers put other data there. */
const searchBytes = 64 * 1024

/** The length of an ID3v2 tag at the beginning, footer included; 0 without one. */
export const tagLength = (bytes: Uint8Array): number => {
  if (bytes.length < 10 || bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33) return 0
  const size = [6, 7, 8, 9].reduce((sum, i) => (sum << 7) | ((bytes[i] ?? 0) & 0x7f), 0)
  return 10 + size + ((bytes[5] ?? 0) & 0x10 ? 10 : 0)
}

/** Two frames are taken for sound near the beginning; farther on more must follow, as other octets look alike. */
const framesInRow = (distance: number): number => (distance < 4096 ? 2 : 5)

/** Finds the first frame that is followed by others or by the end of the file; -1: there is none. */
export const firstFrame = (bytes: Uint8Array): number => {
  const start = tagLength(bytes)
  for (let at = start; at < Math.min(bytes.length, start + searchBytes); at++)
    if (hasFrames(bytes, at, framesInRow(at - start))) return at
  return -1
}

const hasFrames = (bytes: Uint8Array, start: number, most: number): boolean => {
  let at = start
  let sampleRate: number | null = null
  for (let count = 0; count < most; count++) {
    const frame = frameAt(bytes, at)
    if (frame === null || frame.sampleRate !== (sampleRate ?? frame.sampleRate)) return count > 0 && at === bytes.length
    sampleRate = frame.sampleRate
    at += frame.length
  }
  return true
}

/** The duration of the sound, from the headers of its frames; other bytes between frames are skipped. */
export const seconds = (bytes: Uint8Array): number => {
  let sum = 0
  for (let at = Math.max(0, firstFrame(bytes)); at < bytes.length;) {
    const frame = frameAt(bytes, at)
    if (frame !== null) sum += frame.samples / frame.sampleRate
    at += frame?.length ?? 1
  }
  return sum
}

/** A quarter of a second of 64 kbit/s: little work at once, and few calls. */
const chunkBytes = 2048

/**
 * Decodes an MP3 chunk by chunk, and holds at most one chunk. Broken frames are skipped.
 *
 * The codec is foreign code that gets foreign bytes: run it where a hang can be terminated.
 */
export const open = async (bytes: Uint8Array): Promise<SoundSource.SoundSource> => {
  const decoder = new MPEGDecoder()
  await decoder.ready
  let at = Math.max(0, firstFrame(bytes))
  return {
    next: () => {
      if (at >= bytes.length) return null
      const { channelData, sampleRate, samplesDecoded } = decoder.decode(bytes.subarray(at, at + chunkBytes))
      at += chunkBytes
      return { sampleRate, samples: SoundSource.mono(channelData, samplesDecoded) }
    },
    free: () => decoder.free()
  }
}
