import type { Codec } from "../../protocol/audio/codec/Codec.ts"
import * as Codecs from "../../protocol/audio/codec/Codecs.ts"
import * as Resample from "../../protocol/audio/Resample.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Splice from "../../protocol/audio/Splice.ts"
import * as JitterBuffer from "../../protocol/rtp/playout/JitterBuffer.ts"
import * as RecentPackets from "../../protocol/rtp/RecentPackets.ts"
import * as ReceptionStats from "../../protocol/rtp/rtcp/ReceptionStats.ts"
import * as RtpPacket from "../../protocol/rtp/RtpPacket.ts"
import * as TelephoneEvent from "../../protocol/rtp/TelephoneEvent.ts"
import * as Frame from "../Frame.ts"
import * as LegDecoder from "./LegDecoder.ts"
import type { Encoding } from "./RtpSender.ts"

/** How much of the newest sound is needed to continue it. */
const newestMs = 60

/**
 * One incoming stream: sound goes through the jitter buffer, a digit to `onDigit` at its first packet, and statistics
 * into reports.
 *
 * Codecs with a static payload type (RFC 3551) are understood under it whatever was agreed, because peers change codecs
 * without notice; any other payload type is counted and dropped. A codec of another RTP clock rate begins a new
 * timeline.
 */
export const make = (
  onDigit: (digit: string, packet: RtpPacket.RtpPacket) => void,
  codecs: Readonly<Record<Codecs.CodecName, Codec>> = Codecs.table
) => {
  const events = TelephoneEvent.receiver()
  const decoders = new Map<Codecs.CodecName, LegDecoder.LegDecoder>()
  let clockRate = JitterBuffer.defaults.clockRate
  let buffer = JitterBuffer.make()
  let stats = ReceptionStats.make(clockRate)
  /** The rate of the leg's frames. */
  let rate: SampleRate = 8000
  /** The frame that was pulled last. */
  let last = Frame.make(rate)
  let ssrc = -1
  let before = ReceptionStats.none
  let unknownPayloads = 0
  const recent = RecentPackets.make()
  let isMuted = false
  /** The duration of the last packet's sound in clock units; 0: it has none that a peer could use. */
  let usable = 0
  /** Whether the last packet was an event. */
  let isEvent = false
  /** The codec of the last packet of sound, also if that was dropped. */
  let present: { readonly format: Codecs.CodecName; readonly decoder: LegDecoder.LegDecoder } | null = null
  /** How long the sound of one packet lasts, by the last one that was measured. */
  let packetMs = 20
  /** The codec of the last sound that was queued. */
  let heardIn: Codecs.CodecName | null = null

  const totals = (): ReceptionStats.Totals => ReceptionStats.joined(before, stats.totals())

  /**
   * Maps a payload type. The numbers that we assigned come first, then static ones, then those of the peer, because
   * some peers use theirs both ways.
   */
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

  const decoderOf = (name: Codecs.CodecName): LegDecoder.LegDecoder => {
    const known = decoders.get(name)
    if (known !== undefined) return known
    const decoder = LegDecoder.make(codecs[name], () => rate)
    decoders.set(name, decoder)
    return decoder
  }

  /** Changes to another codec than that of the packet before. */
  const changeTo = (format: Codecs.CodecName): LegDecoder.LegDecoder => {
    if (codecs[format].clockRate !== clockRate) {
      clockRate = codecs[format].clockRate
      buffer = JitterBuffer.make({ ...JitterBuffer.defaults, clockRate })
      isMuted = false
      ssrc = -1
    }
    const decoder = decoderOf(format)
    present = { format, decoder }
    return decoder
  }

  return {
    /** Takes a packet, lent for the call. Returns the codec of its sound; `null`: it has none, or an unknown one. */
    receive: (packet: RtpPacket.RtpPacket, encoding: Encoding, now: number): Codecs.CodecName | null => {
      const format = formatOf(packet.payloadType, encoding)
      usable = 0
      isEvent = format === "event"
      if (format === "event") {
        if (ssrc === -1) ssrc = packet.ssrc
        if (packet.ssrc === ssrc) stats.receiveEvent(packet.sequenceNumber)
        const digit = events.receive({ ...packet, payload: RtpPacket.payloadOf(packet) }, now)
        if (digit !== null) onDigit(digit, packet)
        return null
      }
      if (format === null) {
        unknownPayloads++
        return null
      }
      const decoder = format === present?.format ? present.decoder : changeTo(format)
      const duration = decoder.duration(packet.bytes, packet.payloadStart, packet.payloadEnd)
      if (duration > 0) packetMs = (duration * 1000) / clockRate
      const pushed = buffer.push(packet, decoder, now, duration)
      // A packet that is too late here may be in time for a peer with a deeper buffer.
      usable = pushed === "queued" || (pushed === "late" && packet.ssrc === ssrc) ? duration : 0
      if (pushed === "queued") {
        if (packet.ssrc !== ssrc || format !== heardIn) recent.clear()
        recent.add(packet.bytes, duration, now)
        heardIn = format
      }
      if (packet.ssrc !== ssrc) {
        // Reports are about another source only once its sound is queued.
        if (pushed !== "queued") return format
        before = totals()
        stats = ReceptionStats.make(clockRate)
        ssrc = packet.ssrc
      }
      stats.receive(packet, now)
      return format
    },
    /** The newest packets of sound. Code that adds to them has to call `followed` for each. */
    recent,
    /**
     * Updates the state for a packet in `recent`, of the same stream and codec as the one before. False: it does not
     * count, and may not be forwarded.
     */
    followed: (packet: RtpPacket.RtpPacket, duration: number, now: number): boolean => {
      if (present === null) return false
      const pushed = buffer.push(packet, present.decoder, now, duration)
      stats.receive(packet, now)
      return pushed === "queued"
    },
    /** Writes the next 20 ms, at the rate of `out`. After a change of that rate they are joined to the frame before. */
    pull: (out: Frame.Frame, now: number): JitterBuffer.Pulled => {
      const before = out.rate === rate || isMuted ? null : Splice.extendAt(last, out.rate, LegDecoder.joinMs)
      rate = out.rate
      const pulled = buffer.pull(out.samples, now)
      if (before !== null) Splice.join(before, out.samples)
      last = Frame.at(rate, last)
      if (!isMuted) last.samples.set(out.samples)
      return pulled
    },
    /** The duration of the last packet's sound in clock units; 0: it has none, or may not be forwarded. */
    usable: (): number => usable,
    isEvent: (): boolean => isEvent,
    /** The timestamp that all packets of the last event share, whatever timestamps its sender gave them. */
    eventTimestamp: events.eventTimestamp,
    /** The timestamp that all packets of the last event share, those of its later segments included. */
    pressTimestamp: events.pressTimestamp,
    /** Whether the last packet was a further one of the last digit. */
    isHeld: (): boolean => isEvent && events.isHeld(),
    /** Whether anything listens to the pulled sound. */
    isHeard: (): boolean => !isMuted,
    /** Measures the sound of a payload in the codec of the last packet, in clock units. */
    durationOf: (): LegDecoder.LegDecoder["duration"] | null => present?.decoder.duration ?? null,
    /** The codec of the last sound; null: there was none. */
    heardIn: (): Codecs.CodecName | null => heardIn,
    /** The timestamp of the sound that is played next, if a packet begins there; null otherwise. */
    boundary: (): number | null => buffer.boundary(),
    /** Returns the received packets whose sound begins at this timestamp or later, in their order. */
    since: recent.since,
    /** Returns the newest sound up to the last packet: up to 60 ms, without a gap; null: there is none. */
    newest: (): Frame.Sound | null => {
      const name = heardIn
      const run = recent.run((clockRate * newestMs) / 1000)
      if (name === null || run.length === 0) return null
      const decoder = LegDecoder.make(codecs[name], () => rate)
      const longest = new Int16Array((rate * JitterBuffer.defaults.maxPacketMs) / 1000)
      const parts = run.map((packet) => longest.slice(0, decoder.decode(RtpPacket.payloadOf(packet), longest)))
      decoder.free()
      return { rate, samples: Resample.concat(parts) }
    },
    /** Sets whether anything listens to the pulled sound. */
    listen: (isHeard: boolean, now: number): void => {
      if (isHeard !== isMuted) return
      isMuted = !isHeard
      if (isMuted) buffer.mute(now)
      else buffer.unmute(recent, heardIn === null ? null : decoderOf(heardIn), now)
    },
    /** The report block on this stream; `null` before any packet. */
    report: (): (ReceptionStats.Report & { readonly ssrc: number }) | null =>
      ssrc === -1 ? null : { ssrc, ...stats.report() },
    totals,
    packetMs: (): number => packetMs,
    /** The sound in the jitter buffer. */
    bufferMs: (): number => buffer.depthMs(),
    counters: () => ({ ...buffer.counters, unknownPayloads }),
    close: (): void => {
      for (const decoder of decoders.values()) decoder.free()
      decoders.clear()
    }
  }
}
