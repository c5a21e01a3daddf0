/**
 * RTCP packets as values and as compound datagrams, RFC 3550 section 6.
 *
 * All identifiers and counters are unsigned 32 bits unless stated otherwise.
 */
interface SenderReport {
  readonly type: "sender_report"
  readonly ssrc: number
  /** The wall clock at `rtpTimestamp`: seconds since 1900 and their fraction in units of 2^-32 s. */
  readonly ntpSeconds: number
  readonly ntpFraction: number
  readonly rtpTimestamp: number
  readonly packetCount: number
  readonly octetCount: number
  readonly reports: ReadonlyArray<ReportBlock>
}

interface ReceiverReport {
  readonly type: "receiver_report"
  readonly ssrc: number
  readonly reports: ReadonlyArray<ReportBlock>
}

/** A receiver's report on one source, section 6.4.1. */
export interface ReportBlock {
  readonly ssrc: number
  /** The share lost since the last report, in units of 1/256; 0 to 255. */
  readonly fractionLost: number
  /** Signed 24 bits: duplicates make it negative. */
  readonly cumulativeLost: number
  readonly extendedHighestSequence: number
  /** The jitter in media clock units. */
  readonly jitter: number
  /** The middle 32 bits of the NTP time of the last sender report; 0 when none came. */
  readonly lastSenderReport: number
  /** The time since that report, in units of 2^-16 s. */
  readonly delaySinceLastSenderReport: number
}

/** Source description, section 6.5; item type 1 is CNAME. */
export interface SourceDescription {
  readonly type: "source_description"
  readonly chunks: ReadonlyArray<{
    readonly ssrc: number
    readonly items: ReadonlyArray<{ readonly type: number; readonly text: string }>
  }>
}

export interface Bye {
  readonly type: "bye"
  readonly sources: ReadonlyArray<number>
  readonly reason: string | null
}

/** Any other type (APP, feedback, XR), kept as it came. `count` is the five bits after version and padding. */
interface Unknown {
  readonly type: "unknown"
  readonly packetType: number
  readonly count: number
  readonly body: Uint8Array
}

export type RtcpPacket = SenderReport | ReceiverReport | SourceDescription | Bye | Unknown

export const cname = 1

/** Packet types, section 12.1. */
export const packetType = { senderReport: 200, receiverReport: 201, sourceDescription: 202, bye: 203 } as const

/** Octets of the common header, and of a report block. */
export const headerLength = 4
export const reportBlockLength = 24

/** The middle 32 bits of an NTP time, as in report blocks, section 6.4.1. */
export const compactNtp = (seconds: number, fraction: number): number =>
  (((seconds & 0xffff) << 16) | (fraction >>> 16)) >>> 0

/** The NTP time of Unix milliseconds, section 4; era 0 ends in 2036 and the seconds wrap. */
export const ntpTime = (epochMs: number): { readonly seconds: number; readonly fraction: number } => {
  const whole = Math.floor(epochMs / 1000)
  return {
    seconds: (whole + 2_208_988_800) >>> 0,
    fraction: Math.floor(((epochMs - whole * 1000) / 1000) * 0x1_0000_0000) >>> 0
  }
}
