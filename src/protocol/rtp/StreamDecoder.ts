import type { Loss, PayloadDecoder } from "./playout/PayloadDecoder.ts"
import { endOf, type Queued } from "./playout/PayloadQueue.ts"
import { timestampDistance } from "./SequenceNumber.ts"

/**
 * Decodes the packets of one stream in playout order, each once, and notifies their codec of losses between them. A
 * frame lasts `frameUnits` of the RTP clock; no packet lasts longer than `longestUnits`.
 */
export const make = (frameUnits: number, longestUnits: number) => {
  let samplesPerUnit = 1
  /** The sound of the last decoded packet, and its end on the timeline. */
  let sound = new Int16Array(0)
  let soundLength = 0
  let decoded: Queued | null = null
  let decodedEnd = 0
  let decoder: PayloadDecoder | null = null
  /** The last frame of real sound, which concealment may repeat. */
  let last = new Int16Array(0)
  /** The decoder of the last concealment, and the level at its end; null: it was silence. */
  let concealer: PayloadDecoder | null = null
  let level = 0
  /** The continuation of the concealed sound. */
  let beyond = new Int16Array(0)
  const loss: { -readonly [K in keyof Loss]: Loss[K] } = { from: 0, framesBefore: 0, last, following: null }

  const lengthOf = (packet: Queued): number => Math.floor(packet.duration * samplesPerUnit)

  const decode = (packet: Queued): void => {
    const gap = timestampDistance(decodedEnd, packet.timestamp)
    const other = packet.decoder === decoder ? null : decoder
    const before = other === null || gap !== 0 ? null : sound.slice(0, soundLength)
    if (packet.decoder !== decoder) packet.decoder.reset()
    else if (gap > 0) decoder.skip(gap)
    decoder = packet.decoder
    decoded = packet
    decodedEnd = endOf(packet) >>> 0
    soundLength = lengthOf(packet)
    sound.fill(0, decoder.decode(packet.payload, sound), soundLength)
    if (other !== null && before !== null) decoder.join?.(before, sound, other)
  }

  return {
    /** Changes the number of samples in a frame; decoded sound is lost. */
    resize: (samples: number): void => {
      samplesPerUnit = samples / frameUnits
      sound = new Int16Array(Math.ceil(longestUnits * samplesPerUnit))
      last = new Int16Array(samples)
      beyond = new Int16Array(samples)
      loss.last = last
      decoded = null
      soundLength = 0
    },
    unitsIn: (samples: number): number => Math.round(samples / samplesPerUnit),
    isDecoded: (packet: Queued): boolean => packet === decoded,
    /** Copies up to `count` samples of a packet, from the clock unit `offset` on, into `out`; returns how many. */
    read: (packet: Queued, offset: number, out: Int16Array, at: number, count: number): number => {
      const start = Math.max(0, Math.floor(offset * samplesPerUnit))
      const copied = Math.max(0, Math.min(count, lengthOf(packet) - start))
      if (packet !== decoded) decode(packet)
      for (let i = 0; i < copied; i++) out[at + i] = sound[start + i] ?? 0
      return copied
    },
    /** Forgets the last decoded packet, because it is gone and another may take its place in the queue. */
    forget: (): void => {
      decoded = null
    },
    /** Begins another stream. */
    restart: (): void => {
      decoded = null
      decoder = null
    },
    /** Takes a whole frame of real sound that is played. */
    heard: (frame: Int16Array): void => {
      last.set(frame)
    },
    /** Feeds a codec with state the packets `before` the next one, without a gap, which were not read. */
    catchUp: (before: ReadonlyArray<Queued>): void => {
      for (const packet of before) decode(packet)
      level = 1
      const frames = decoded === null ? 0 : Math.floor(lengthOf(decoded) / last.length)
      if (decoded !== null && frames > 0) {
        const end = lengthOf(decoded)
        last.set(sound.subarray(end - last.length, end))
      }
      decoded = null
    },
    /** Fills `out` from `from` on; `following` is the packet directly after the missing sound, if it has arrived. */
    conceal: (out: Int16Array, from: number, framesBefore: number, following: Queued | null): void => {
      concealer = decoder
      if (decoder === null) {
        out.fill(0, from)
        level = 0
        return
      }
      loss.from = from
      loss.framesBefore = framesBefore
      loss.following = following?.decoder === decoder ? following.payload : null
      level = decoder.conceal(out, loss)
    },
    /**
     * Fades the first half of the frame after a concealment in, over the continuation of the concealed sound: if the
     * sound was only late, it resumes at another place in its period.
     */
    join: (frame: Int16Array, framesBefore: number): void => {
      // A codec whose concealment ends at full level joins the next sound itself.
      if (level === 1) return
      loss.from = 0
      loss.framesBefore = framesBefore
      loss.following = null
      if (concealer === null) beyond.fill(0)
      else concealer.conceal(beyond, loss)
      const length = frame.length >> 1
      for (let i = 0; i < length; i++) {
        const gain = 0.5 - 0.5 * Math.cos((Math.PI * (i + 0.5)) / length)
        frame[i] = Math.round((frame[i] ?? 0) * gain + (beyond[i] ?? 0) * (1 - gain))
      }
    }
  }
}
