import { Result } from "effect"
import type * as ReceptionStats from "../../protocol/rtp/rtcp/ReceptionStats.ts"
import * as Rtcp from "../../protocol/rtp/rtcp/Rtcp.ts"
import * as RtcpParser from "../../protocol/rtp/rtcp/RtcpParser.ts"
import * as RtcpWriter from "../../protocol/rtp/rtcp/RtcpWriter.ts"

/** The fixed minimum interval, RFC 3550 section 6.2; half of it before the first report. */
const intervalMs = 5000
const longestRoundTripMs = 10_000
/**
 * The most octets that reach us in one piece. A longer datagram of many small parts takes 5 ms to read, in which no leg
 * of the thread is sent to.
 */
const longestOctets = 1500

interface Options {
  readonly ssrc: number
  readonly cname: string
  /** Returns 32 bits, uniformly distributed and unsigned. */
  readonly random: () => number
  /** Epoch milliseconds. */
  readonly wallClock: () => number
}

/** The part of a report about our side. */
export interface Said {
  /** `null` when nothing was sent since the last report. */
  readonly sent: { readonly timestamp: number; readonly packets: number; readonly octets: number } | null
  readonly received: (ReceptionStats.Report & { readonly ssrc: number }) | null
}

/** The peer's reports on the stream that we send. */
interface Reported {
  /** The last one. */
  readonly block: Rtcp.ReportBlock
  /** The interarrival jitter in it, and the mean and the maximum of all reports. */
  readonly jitterMs: number
  readonly jitterMeanMs: number
  readonly jitterMaxMs: number
}

/** The RTCP of a leg: when to report, its own reports, and the contents of the peer's. */
export const make = ({ cname, random, ssrc, wallClock }: Options) => {
  let dueAt = Number.POSITIVE_INFINITY
  let lastSenderReport: { readonly ssrc: number; readonly compact: number; readonly receivedAt: number } | null = null
  let roundTripMs: number | null = null
  let reported: Reported | null = null
  let reports = 0

  /** Returns half to one and a half of the interval, so that reports of many legs do not coincide, section 6.3.1. */
  const spread = (interval: number) => interval * (0.5 + random() / 0x1_0000_0000)

  const reportBlocks = (received: Said["received"], now: number): ReadonlyArray<Rtcp.ReportBlock> => {
    if (received === null) return []
    const last = lastSenderReport?.ssrc === received.ssrc ? lastSenderReport : null
    return [
      {
        ...received,
        lastSenderReport: last === null ? 0 : last.compact,
        delaySinceLastSenderReport: last === null ? 0 : Math.round(((now - last.receivedAt) * 65_536) / 1000) >>> 0
      }
    ]
  }

  const compound = ({ received, sent }: Said, now: number, ending: boolean): Uint8Array => {
    const reports = reportBlocks(received, now)
    const ntp = Rtcp.ntpTime(wallClock())
    const report: Rtcp.RtcpPacket =
      sent === null
        ? { type: "receiver_report", ssrc, reports }
        : {
            type: "sender_report",
            ssrc,
            ntpSeconds: ntp.seconds,
            ntpFraction: ntp.fraction,
            rtpTimestamp: sent.timestamp,
            packetCount: sent.packets,
            octetCount: sent.octets,
            reports
          }
    const description: Rtcp.RtcpPacket = {
      type: "source_description",
      chunks: [{ ssrc, items: [{ type: Rtcp.cname, text: cname }] }]
    }
    const bye: ReadonlyArray<Rtcp.RtcpPacket> = ending ? [{ type: "bye", sources: [ssrc], reason: null }] : []
    return RtcpWriter.write([report, description, ...bye])
  }

  const note = (block: Rtcp.ReportBlock, clockRate: number): void => {
    const jitterMs = (block.jitter * 1000) / clockRate
    const { jitterMaxMs, jitterMeanMs } = reported ?? { jitterMaxMs: 0, jitterMeanMs: 0 }
    reports++
    reported = {
      block,
      jitterMs,
      jitterMeanMs: jitterMeanMs + (jitterMs - jitterMeanMs) / reports,
      jitterMaxMs: Math.max(jitterMaxMs, jitterMs)
    }
  }

  const listen = (packet: Rtcp.RtcpPacket, now: number, clockRate: number) => {
    if (packet.type !== "sender_report" && packet.type !== "receiver_report") return
    if (packet.type === "sender_report")
      lastSenderReport = {
        ssrc: packet.ssrc,
        compact: Rtcp.compactNtp(packet.ntpSeconds, packet.ntpFraction),
        receivedAt: now
      }
    for (const block of packet.reports) {
      if (block.ssrc !== ssrc) continue
      note(block, clockRate)
      if (block.lastSenderReport === 0) continue
      const ntp = Rtcp.ntpTime(wallClock())
      const elapsed =
        (Rtcp.compactNtp(ntp.seconds, ntp.fraction) - block.lastSenderReport - block.delaySinceLastSenderReport) | 0
      const ms = (elapsed * 1000) / 65_536
      if (ms >= 0 && ms < longestRoundTripMs) roundTripMs = ms
    }
  }

  return {
    start: (now: number): void => {
      dueAt = now + spread(intervalMs / 2)
    },
    isDue: (now: number): boolean => now >= dueAt,
    dueAt: (): number => dueAt,
    report: (said: Said, now: number): Uint8Array => {
      dueAt = now + spread(intervalMs)
      return compound(said, now, false)
    },
    bye: (said: Said, now: number): Uint8Array => compound(said, now, true),
    /**
     * Takes a datagram of the peer; false when it was malformed or too long. `clockRate` is that of the stream that we
     * send.
     */
    receive: (bytes: Uint8Array, now: number, clockRate: number): boolean => {
      if (bytes.length > longestOctets) return false
      const parsed = RtcpParser.parse(bytes)
      if (Result.isFailure(parsed)) return false
      for (const packet of parsed.success) listen(packet, now, clockRate)
      return true
    },
    roundTripMs: (): number | null => roundTripMs,
    /** Null before the peer's first report. */
    reported: (): Reported | null => reported
  }
}
