import type { CodecName } from "../../../protocol/audio/codec/Codecs.ts"
import * as Codecs from "../../../protocol/audio/codec/Codecs.ts"
import * as RtpPacket from "../../../protocol/rtp/RtpPacket.ts"
import * as SequenceNumber from "../../../protocol/rtp/SequenceNumber.ts"
import * as Frame from "../../Frame.ts"
import * as RateConverter from "../../mix/RateConverter.ts"
import * as LegDecoder from "../../rtp/LegDecoder.ts"
import type { StreamFormat } from "../dialect/StreamFormat.ts"

/**
 * One track of a leg as a stream sends it: in payloads of 20 ms, without gaps. Missing sound is silence.
 *
 * Sound is either read with the frames of the leg, or taken from packets as they arrive, 40 ms and more before the leg
 * hears it. Packets are sent at once; those after a missing one wait for it, unless the buffer is shallow: then the
 * missing one is silent, and is dropped when it comes.
 *
 * The track is never later than the clock by more than `jitterMs`, nor ahead of it by as much (at least `aheadMs`):
 * then a missing packet is given up, silence is inserted, or a packet is dropped.
 *
 * Shapes: `positionMs` is where in the track a payload begins. Times are milliseconds of the plane's clock.
 */
interface Told {
  readonly positionMs: number
  readonly payload: Uint8Array
}

/** The depth that holds nothing back: for an agent, whose answer must not wait for a packet. */
const shallowMs = 60
const aheadMs = 100
/** The most packets that wait for a missing one. */
const mostHeld = 256
/** A jump of the timestamp by more than this is a new beginning, not a loss. */
const longestGapMs = 500
/** The longest sound in one packet. */
const longestPacketMs = 200

export const make = (
  format: StreamFormat,
  startedAt: number,
  jitterMs: number,
  /** The payload is lent for the call. */
  tell: (told: Told) => void
) => {
  const { rate } = format
  const frame = Frame.make(rate)
  const frameLength = frame.samples.length
  const payload = new Uint8Array(format.frameOctets)
  const converter = RateConverter.make()
  const converted = Frame.make(rate)
  const silence = new Int16Array(frameLength)
  const encoder = format.encoder()
  /** How many samples of the present frame are filled. */
  let filled = 0
  let positionMs = 0
  let decoder: { readonly of: CodecName; readonly codec: LegDecoder.LegDecoder } | null = null
  let sound = new Int16Array(0)
  /** The expected next packet; null: none has come. */
  let next: { readonly ssrc: number; readonly codec: CodecName; sequence: number; timestamp: number } | null = null
  /** The packets after a missing one, in their order. */
  let held: Array<{ readonly packet: RtpPacket.RtpPacket; readonly codec: CodecName }> = []
  const isDeep = jitterMs > shallowMs
  /** The gap before a new beginning: silence up to now, so that the whole depth is left for what follows. */
  const atStart = isDeep ? Number.POSITIVE_INFINITY : 0

  const toldMs = (): number => positionMs + (filled * 1000) / rate

  const put = (bytes: Uint8Array): void => {
    const told = { positionMs, payload: bytes }
    positionMs += Frame.frameMs
    tell(told)
  }

  const add = (samples: Int16Array): void => {
    for (let at = 0; at < samples.length;) {
      const count = Math.min(samples.length - at, frameLength - filled)
      frame.samples.set(samples.subarray(at, at + count), filled)
      filled += count
      at += count
      if (filled < frameLength) return
      filled = 0
      put(payload.subarray(0, encoder.encode(frame.samples, payload, 0)))
    }
  }

  const addSilence = (ms: number): void => {
    let left = Math.round((ms * rate) / 1000)
    for (; left > 0; left -= frameLength) add(left >= frameLength ? silence : silence.subarray(0, left))
  }

  const decoderOf = (codec: CodecName): LegDecoder.LegDecoder => {
    if (decoder?.of === codec) return decoder.codec
    decoder?.codec.free()
    const made = LegDecoder.make(Codecs.table[codec], () => rate)
    decoder = { of: codec, codec: made }
    sound = new Int16Array((rate * longestPacketMs) / 1000)
    return made
  }

  /** Returns the gap before the packet in milliseconds; null: the packet is late or a duplicate. */
  const gapBefore = (packet: RtpPacket.RtpPacket, codec: CodecName): number | null => {
    if (next === null || next.ssrc !== packet.ssrc || next.codec !== codec) return atStart
    if (SequenceNumber.distance(next.sequence, packet.sequenceNumber) < 0) return null
    const ms =
      (SequenceNumber.timestampDistance(next.timestamp, packet.timestamp) * 1000) / Codecs.table[codec].clockRate
    if (ms > longestGapMs) return atStart
    return Math.max(0, ms)
  }

  const lateMs = (now: number): number => now - startedAt - toldMs()

  const take = (packet: RtpPacket.RtpPacket, codec: CodecName, at: number): void => {
    const { payloadEnd, payloadStart, sequenceNumber, ssrc, timestamp } = packet
    const decoding = decoderOf(codec)
    const units = decoding.duration(packet.bytes, payloadStart, payloadEnd)
    const ms = (units * 1000) / Codecs.table[codec].clockRate
    if (units === 0 || ms > longestPacketMs) return
    const gapMs = gapBefore(packet, codec)
    if (gapMs === null) return
    next = { ssrc, codec, sequence: SequenceNumber.next(sequenceNumber), timestamp: (timestamp + units) >>> 0 }
    // Silence that was inserted while the packet was awaited is not inserted again.
    const missingMs = Math.max(0, Math.min(gapMs, lateMs(at) - ms))
    // Whole frames at a beginning keep the packets after it whole.
    addSilence(gapMs === atStart ? missingMs - (missingMs % Frame.frameMs) : missingMs)
    if (ms - lateMs(at) > Math.max(aheadMs, jitterMs)) return
    if (format.passes(codec) && filled === 0 && ms === Frame.frameMs) return put(RtpPacket.payloadOf(packet))
    const count = decoding.decode(RtpPacket.payloadOf(packet), sound)
    add(sound.subarray(0, count))
  }

  /** How many packets are missing before this one; 0: none, or it does not continue the last one. */
  const missingBefore = ({ sequenceNumber, ssrc }: RtpPacket.RtpPacket, codec: CodecName): number =>
    next === null || next.ssrc !== ssrc || next.codec !== codec
      ? 0
      : SequenceNumber.distance(next.sequence, sequenceNumber)

  /** Keeps a copy of a packet in its place. */
  const hold = (packet: RtpPacket.RtpPacket, codec: CodecName): void => {
    const missing = missingBefore(packet, codec)
    const place = held.findIndex(({ packet: other }) => missingBefore(other, codec) >= missing)
    const other = held[place]
    if (other?.packet.sequenceNumber === packet.sequenceNumber) return
    held.splice(place === -1 ? held.length : place, 0, { packet: { ...packet, bytes: packet.bytes.slice() }, codec })
  }

  /** Takes the first waiting packet, and those that follow it directly. */
  const release = (at: number): void => {
    for (let isFirst = true; held.length > 0; isFirst = false) {
      const [first] = held
      if (first === undefined || (!isFirst && missingBefore(first.packet, first.codec) > 0)) return
      held = held.slice(1)
      take(first.packet, first.codec, at)
    }
  }

  return {
    /** Takes the leg's frame of these 20 ms. */
    frame: (heard: Frame.Frame): void => {
      converter.convert(heard, converted)
      add(converted.samples)
    },
    packet: (packet: RtpPacket.RtpPacket, codec: CodecName, at: number): void => {
      const missing = missingBefore(packet, codec)
      if (isDeep && missing > 0 && missing <= mostHeld) {
        hold(packet, codec)
        if (held.length > mostHeld) release(at)
        return
      }
      // After a change of the source or a jump of its numbers, no missing packet will come.
      if (missing > mostHeld || next?.ssrc !== packet.ssrc || next.codec !== codec) while (held.length > 0) release(at)
      take(packet, codec, at)
      if (held[0] !== undefined && missingBefore(held[0].packet, held[0].codec) <= 0) release(at)
    },
    /** Gives up packets that are missing for too long, and fills up missing sound. Called once a round. */
    tick: (now: number): void => {
      while (held.length > 0 && lateMs(now) >= jitterMs) release(now)
      const late = lateMs(now)
      if (late >= jitterMs) addSilence(Math.floor((late - jitterMs) / Frame.frameMs + 1) * Frame.frameMs)
    },
    free: (): void => {
      converter.free()
      encoder.free()
      decoder?.codec.free()
      decoder = null
    }
  }
}
