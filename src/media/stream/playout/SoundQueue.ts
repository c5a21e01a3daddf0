/**
 * The sound of a stream's server that was not played yet, encoded as it came. It is decoded when it is taken, so that a
 * flood costs no more than the sound that is heard, and waits in the size of its payloads.
 *
 * Sound is counted in samples at the rate of the decoder. Nothing is rounded between two payloads: the rest of one is
 * played before the next.
 */
export interface SoundDecoder {
  /** The size of a unit; payloads may be cut between units. Null: a payload is one packet, decoded whole. */
  readonly unit: { readonly octets: number; readonly samples: number } | null
  /** Returns the samples in a packet; 0: it is not of this codec. */
  readonly samplesIn: (packet: Uint8Array) => number
  /** Decodes whole units, or a packet, into `out`; returns the samples written. */
  readonly decode: (bytes: Uint8Array, out: Int16Array) => number
  /** Forgets its state, because the next payload does not continue the last. */
  readonly reset: () => void
}

interface Segment {
  readonly bytes: Uint8Array
  /** The octets that were decoded already. */
  at: number
}

/** The most samples that are decoded at a time if payloads may be cut. */
const batch = 960
/** The longest packet of a codec: 120 ms at 48 kHz. */
const longestPacket = 5760

const nothing = new Uint8Array(0)

export type SoundQueue = ReturnType<typeof make>

export const make = (decoder: SoundDecoder) => {
  let segments: Array<Segment> = []
  /** The segment that is decoded next; those before it are empty. */
  let first = 0
  /** The beginning of an incomplete unit. */
  let started: Uint8Array = nothing
  let decoded = new Int16Array(batch)
  let decodedAt = 0
  let decodedEnd = 0
  let length = 0
  let octets = 0

  const { unit } = decoder
  const samplesOf = (bytes: Uint8Array): number =>
    unit === null ? decoder.samplesIn(bytes) : Math.floor(bytes.length / unit.octets) * unit.samples

  /** Returns the whole units of a payload, after the rest of the one before. */
  const wholeUnits = (payload: Uint8Array, unitOctets: number): Uint8Array => {
    if (started.length === 0 && payload.length % unitOctets === 0) return payload
    const joined = new Uint8Array(started.length + payload.length)
    joined.set(started)
    joined.set(payload, started.length)
    const whole = joined.length - (joined.length % unitOctets)
    started = joined.slice(whole)
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
    // A damaged packet is silent for its duration, which is counted already.
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
    /** Returns how many samples the payload would add, without adding it. */
    samplesIn: (payload: Uint8Array): number =>
      unit === null
        ? decoder.samplesIn(payload)
        : Math.floor((started.length + payload.length) / unit.octets) * unit.samples,
    /** Keeps the payload, which must not be changed afterwards. Returns the samples that it adds. */
    push: (payload: Uint8Array): number => {
      const bytes = unit === null ? payload : wholeUnits(payload, unit.octets)
      const samples = samplesOf(bytes)
      if (samples === 0) return 0
      segments.push({ bytes, at: 0 })
      octets += bytes.length
      length += samples
      return samples
    },
    /** The samples that wait. */
    length: (): number => length,
    /** The octets that wait. */
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
    /** Drops everything, decoded samples and an incomplete unit too. */
    clear: (): void => {
      segments = []
      first = 0
      started = nothing
      decodedAt = 0
      decodedEnd = 0
      length = 0
      octets = 0
      decoder.reset()
    }
  }
}
