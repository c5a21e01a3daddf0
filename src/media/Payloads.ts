import type { Encoder } from "../protocol/audio/codec/Codec.ts"
import { type CodecName, longestFrameOctets } from "../protocol/audio/codec/Codecs.ts"

interface Payload {
  readonly storage: Uint8Array
  /** The beginning of `storage` that holds the payload. */
  octets: Uint8Array
  isFresh: boolean
}

/** The payloads of a frame that several far ends are given, each encoded once. Only stateless codecs can share them. */
export interface Payloads {
  /** Writes the payload into `out` from `at` on, by `encoder` if it is its codec's first. Returns its octets. */
  readonly write: (codec: CodecName, encoder: Encoder, samples: Int16Array, out: Uint8Array, at: number) => number
  /** Forgets the payloads, because the samples of the frame have changed. */
  readonly clear: () => void
}

export const make = (): Payloads => {
  const payloads = new Map<CodecName, Payload>()
  const stale = (payload: Payload): void => {
    payload.isFresh = false
  }
  const payloadOf = (codec: CodecName): Payload => {
    const known = payloads.get(codec)
    if (known !== undefined) return known
    const storage = new Uint8Array(longestFrameOctets)
    const made = { storage, octets: storage, isFresh: false }
    payloads.set(codec, made)
    return made
  }
  return {
    write: (codec, encoder, samples, out, at) => {
      const payload = payloadOf(codec)
      if (!payload.isFresh) {
        const length = encoder.encode(samples, payload.storage, 0)
        if (payload.octets.length !== length) payload.octets = payload.storage.subarray(0, length)
        payload.isFresh = true
      }
      out.set(payload.octets, at)
      return payload.octets.length
    },
    clear: () => payloads.forEach(stale)
  }
}
