/**
 * What a stream's server has sent and nobody has heard yet, as it came: it is decoded when it is taken, so that a flood
 * costs no more than what is heard of it, and waits in the size of its payloads.
 *
 * Sound is counted in samples at the rate of the decoder. Nothing is rounded between two payloads: what is left of one
 * is heard before the next.
 */
export interface SoundDecoder {
  /** Payloads may be cut between units of so many octets and samples. Null: a payload is one packet, decoded whole. */
  readonly unit: { readonly octets: number; readonly samples: number } | null
  /** The samples of a packet; 0: it is not of this codec. */
  readonly samplesIn: (packet: Uint8Array) => number
  /** Decodes whole units, or a packet, into `out`; returns the samples written. */
  readonly decode: (bytes: Uint8Array, out: Int16Array) => number
  /** What comes next has nothing to do with what came before. */
  readonly reset: () => void
}

interface Segment {
  readonly bytes: Uint8Array
  /** Octets that were decoded already. */
  at: number
}

/** Samples that are decoded at a time, at the most, where payloads may be cut. */
const batch = 960
/** The longest packet of a codec: 120 ms at 48 kHz. */
const longestPacket = 5760

const nothing = new Uint8Array(0)

export type SoundQueue = ReturnType<typeof make>

export const make = (decoder: SoundDecoder) => {
  let segments: Array<Segment> = []
  /** The segment that is decoded next; those before it are empty. */
  let first = 0
  /** A unit that is not whole yet. */
  let begun: Uint8Array = nothing
  let decoded = new Int16Array(batch)
  let decodedAt = 0
  let decodedEnd = 0
  let length = 0
  let octets = 0

  const { unit } = decoder
  const samplesOf = (bytes: Uint8Array): number =>
    unit === null ? decoder.samplesIn(bytes) : Math.floor(bytes.length / unit.octets) * unit.samples

  /** The octets of a payload that are whole units, behind what was left before. */
  const wholeUnits = (payload: Uint8Array, unitOctets: number): Uint8Array => {
    if (begun.length === 0 && payload.length % unitOctets === 0) return payload
    const joined = new Uint8Array(begun.length + payload.length)
    joined.set(begun)
    joined.set(payload, begun.length)
    const whole = joined.length - (joined.length % unitOctets)
    begun = joined.slice(whole)
    return joined.subarray(0, whole)
  }

  /** Decodes the next samples, up to `batch` of them. */
  const decodeNext = (): void => {
    const segment = segments[first]
    if (segment === undefined) return
    const { at, bytes } = segment
    if (unit === null && decoded.length < longestPacket) decoded = new Int16Array(longestPacket)
    const piece = unit === null ? bytes : bytes.subarray(at, at + (batch / unit.samples) * unit.octets)
    const samples = samplesOf(piece)
    decodedAt = 0
    decodedEnd = samples
    // A packet that is damaged is silent for its time, which is counted already.
    decoded.fill(0, Math.min(samples, decoder.decode(piece, decoded)), samples)
    segment.at = at + piece.length
    octets -= piece.length
    if (segment.at < bytes.length) return
    first++
    if (first < 64 || first < segments.length / 2) return
    segments = segments.slice(first)
    first = 0
  }

  return {
    /** How much sound the payload would add; it is not added. */
    samplesIn: (payload: Uint8Array): number =>
      unit === null
        ? decoder.samplesIn(payload)
        : Math.floor((begun.length + payload.length) / unit.octets) * unit.samples,
    /** Keeps the payload; it is not written to afterwards. Returns the samples that it adds. */
    push: (payload: Uint8Array): number => {
      const bytes = unit === null ? payload : wholeUnits(payload, unit.octets)
      const samples = samplesOf(bytes)
      if (samples === 0) return 0
      segments.push({ bytes, at: 0 })
      octets += bytes.length
      length += samples
      return samples
    },
    /** Samples that wait. */
    length: (): number => length,
    /** Octets that wait. */
    octets: (): number => octets,
    /** Moves up to `count` samples into `out` from `at` on; returns how many. */
    take: (out: Int16Array, at: number, count: number): number => {
      const wanted = Math.min(count, length)
      for (let done = 0; done < wanted;) {
        if (decodedAt === decodedEnd) decodeNext()
        const some = Math.min(wanted - done, decodedEnd - decodedAt)
        if (some === 0) break
        out.set(decoded.subarray(decodedAt, decodedAt + some), at + done)
        decodedAt += some
        done += some
      }
      length -= wanted
      return wanted
    },
    /** Forgets everything, what is decoded and what is begun too. */
    clear: (): void => {
      segments = []
      first = 0
      begun = nothing
      decodedAt = 0
      decodedEnd = 0
      length = 0
      octets = 0
      decoder.reset()
    }
  }
}
