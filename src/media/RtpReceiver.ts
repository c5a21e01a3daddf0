import type { Decoder } from "../audio/codec/Codec.ts"
import * as Codecs from "../audio/codec/Codecs.ts"
import * as JitterBuffer from "../rtp/JitterBuffer.ts"
import * as ReceptionStats from "../rtp/ReceptionStats.ts"
import * as RtpPacket from "../rtp/RtpPacket.ts"
import * as TelephoneEvent from "../rtp/TelephoneEvent.ts"
import type * as Frame from "./Frame.ts"
import type { Encoding } from "./RtpSender.ts"

/** Of both laws, samples and RTP clock. */
const sampleRate = 8000
/** Longest sound in one packet, in octets: 200 ms. */
const longestPayload = 1600

export type RtpReceiver = ReturnType<typeof make>

/**
 * One incoming stream: sound through the jitter buffer, digits to `onDigit`, statistics for reports.
 *
 * Both laws are understood under their static payload types (RFC 3551) whatever was agreed, since peers change over
 * without notice; any other payload type is counted and dropped.
 */
export const make = (onDigit: (digit: string) => void) => {
  const buffer = JitterBuffer.make()
  const events = TelephoneEvent.receiver()
  let stats = ReceptionStats.make(sampleRate)
  let ssrc = -1
  let before: ReceptionStats.Totals = { packetsReceived: 0, packetsLost: 0, jitterMs: 0 }
  let unknownPayloads = 0
  const decoders = new Map<Codecs.CodecName, Decoder>()

  const totals = (): ReceptionStats.Totals => {
    const present = stats.totals()
    return {
      packetsReceived: before.packetsReceived + present.packetsReceived,
      packetsLost: before.packetsLost + present.packetsLost,
      jitterMs: present.jitterMs
    }
  }

  /** Numbers that we gave come first, then static ones, then those of the peer, which some use in both directions. */
  const formatOf = (
    payloadType: number,
    { audio, codec, telephoneEvent }: Encoding
  ): Codecs.CodecName | "event" | null => {
    if (payloadType === telephoneEvent?.receive) return "event"
    if (payloadType === audio.receive) return codec
    const assigned = Codecs.ofPayloadType(payloadType)
    if (assigned !== null) return assigned
    if (payloadType === telephoneEvent?.send) return "event"
    return payloadType === audio.send ? codec : null
  }

  const decoderOf = (name: Codecs.CodecName): Decoder => {
    const known = decoders.get(name)
    if (known !== undefined) return known
    const decoder = Codecs.table[name].decoder()
    decoders.set(name, decoder)
    return decoder
  }

  return {
    /** The packet is lent for the call. */
    receive: (packet: RtpPacket.RtpPacket, encoding: Encoding, now: number): void => {
      const format = formatOf(packet.payloadType, encoding)
      if (format === "event") {
        if (ssrc === -1) ssrc = packet.ssrc
        if (packet.ssrc === ssrc) stats.receiveEvent(packet.sequenceNumber)
        const digit = events.receive({ ...packet, payload: RtpPacket.payloadOf(packet) }, now)
        if (digit !== null) onDigit(digit)
        return
      }
      if (format === null || packet.payloadEnd - packet.payloadStart > longestPayload) {
        unknownPayloads++
        return
      }
      const { sequenceNumber, timestamp } = packet
      const samples = new Int16Array(packet.payloadEnd - packet.payloadStart)
      decoderOf(format).decode(RtpPacket.payloadOf(packet), samples)
      const pushed = buffer.push({ ssrc: packet.ssrc, sequenceNumber, timestamp, samples }, now)
      if (packet.ssrc !== ssrc) {
        if (pushed === "doubtful") return
        before = totals()
        stats = ReceptionStats.make(sampleRate)
        ssrc = packet.ssrc
      }
      stats.receive(packet, now)
    },
    /** The next 20 ms. */
    pull: (out: Frame.Frame, now: number): JitterBuffer.Pulled => buffer.pull(out.samples, now),
    /** The block of a report on this stream; `null` before any packet. */
    report: (): (ReceptionStats.Report & { readonly ssrc: number }) | null =>
      ssrc === -1 ? null : { ssrc, ...stats.report() },
    totals,
    counters: () => ({ ...buffer.counters, unknownPayloads })
  }
}
