import { Result } from "effect"

/**
 * RTCP packets as values and as compound datagrams, RFC 3550 section 6.
 *
 * All identifiers and counters are unsigned 32 bits unless said otherwise.
 */
export interface SenderReport {
  readonly kind: "sender_report"
  readonly ssrc: number
  /** Wall clock of `rtpTimestamp`, seconds since 1900 and their fraction in units of 2^-32 s. */
  readonly ntpSeconds: number
  readonly ntpFraction: number
  readonly rtpTimestamp: number
  readonly packetCount: number
  readonly octetCount: number
  readonly reports: ReadonlyArray<ReportBlock>
}

export interface ReceiverReport {
  readonly kind: "receiver_report"
  readonly ssrc: number
  readonly reports: ReadonlyArray<ReportBlock>
}

/** What a receiver says of one source, section 6.4.1. */
export interface ReportBlock {
  readonly ssrc: number
  /** Share lost since the last report, in units of 1/256; 0 to 255. */
  readonly fractionLost: number
  /** Signed 24 bits: duplicates make it negative. */
  readonly cumulativeLost: number
  readonly extendedHighestSequence: number
  /** In media clock units. */
  readonly jitter: number
  /** Middle 32 bits of the NTP time of the last sender report; 0 when none came. */
  readonly lastSenderReport: number
  /** Since that report, in units of 2^-16 s. */
  readonly delaySinceLastSenderReport: number
}

/** Source description, section 6.5; item type 1 is CNAME. */
export interface SourceDescription {
  readonly kind: "source_description"
  readonly chunks: ReadonlyArray<{
    readonly ssrc: number
    readonly items: ReadonlyArray<{ readonly type: number; readonly text: string }>
  }>
}

export interface Bye {
  readonly kind: "bye"
  readonly sources: ReadonlyArray<number>
  readonly reason: string | null
}

/** Any other type (APP, feedback, XR): kept as it came. `count` is the five bits behind the version. */
export interface Unknown {
  readonly kind: "unknown"
  readonly packetType: number
  readonly count: number
  readonly body: Uint8Array
}

export type RtcpPacket = SenderReport | ReceiverReport | SourceDescription | Bye | Unknown

export type Malformed = "too_short" | "wrong_version" | "bad_length" | "bad_padding" | "bad_body"

export const cname = 1

const senderReportType = 200
const receiverReportType = 201
const sourceDescriptionType = 202
const byeType = 203
const reportBlockLength = 24
const headerLength = 4

const text = new TextDecoder()
const utf8 = new TextEncoder()

const readReports = (view: DataView, start: number, count: number): ReadonlyArray<ReportBlock> | null => {
  if (view.byteLength < start + count * reportBlockLength) return null
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * reportBlockLength
    return {
      ssrc: view.getUint32(at),
      fractionLost: view.getUint8(at + 4),
      cumulativeLost: (view.getInt32(at + 4) << 8) >> 8,
      extendedHighestSequence: view.getUint32(at + 8),
      jitter: view.getUint32(at + 12),
      lastSenderReport: view.getUint32(at + 16),
      delaySinceLastSenderReport: view.getUint32(at + 20)
    }
  })
}

const readChunks = (view: DataView, body: Uint8Array, count: number): SourceDescription | null => {
  const chunks: Array<SourceDescription["chunks"][number]> = []
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + 4 > body.length) return null
    const ssrc = view.getUint32(at)
    at += 4
    const items: Array<{ readonly type: number; readonly text: string }> = []
    for (;;) {
      const type = body[at]
      if (type === undefined) return null
      if (type === 0) break
      const length = body[at + 1]
      if (length === undefined || at + 2 + length > body.length) return null
      items.push({ type, text: text.decode(body.subarray(at + 2, at + 2 + length)) })
      at += 2 + length
    }
    // The list ends with at least one zero octet and is filled up to the next word.
    at = (at + 4) & ~3
    chunks.push({ ssrc, items })
  }
  return { kind: "source_description", chunks }
}

const readBye = (view: DataView, body: Uint8Array, count: number): Bye | null => {
  const end = 4 * count
  if (body.length < end) return null
  const sources = Array.from({ length: count }, (_, i) => view.getUint32(4 * i))
  const length = body[end]
  if (length === undefined) return { kind: "bye", sources, reason: null }
  if (body.length < end + 1 + length) return null
  return { kind: "bye", sources, reason: text.decode(body.subarray(end + 1, end + 1 + length)) }
}

const readBody = (packetType: number, count: number, body: Uint8Array): RtcpPacket | null => {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  switch (packetType) {
    case senderReportType: {
      const reports = readReports(view, 24, count)
      if (reports === null) return null
      return {
        kind: "sender_report",
        ssrc: view.getUint32(0),
        ntpSeconds: view.getUint32(4),
        ntpFraction: view.getUint32(8),
        rtpTimestamp: view.getUint32(12),
        packetCount: view.getUint32(16),
        octetCount: view.getUint32(20),
        reports
      }
    }
    case receiverReportType: {
      const reports = readReports(view, 4, count)
      return reports === null ? null : { kind: "receiver_report", ssrc: view.getUint32(0), reports }
    }
    case sourceDescriptionType:
      return readChunks(view, body, count)
    case byeType:
      return readBye(view, body, count)
    default:
      return { kind: "unknown", packetType, count, body }
  }
}

/**
 * Reads a datagram, compound (section 6.1) or reduced-size (RFC 5506): the first packet may be of any type.
 *
 * One malformed packet refuses the whole datagram, since what follows cannot be trusted. Bodies of unknown packets are
 * views of `bytes`.
 */
export const parse = (bytes: Uint8Array): Result.Result<ReadonlyArray<RtcpPacket>, Malformed> => {
  if (bytes.length < headerLength) return Result.fail("too_short")
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const packets: Array<RtcpPacket> = []
  let offset = 0
  while (offset < bytes.length) {
    if (offset + headerLength > bytes.length) return Result.fail("too_short")
    const first = view.getUint8(offset)
    if (first >> 6 !== 2) return Result.fail("wrong_version")
    const end = offset + headerLength + 4 * view.getUint16(offset + 2)
    if (end > bytes.length) return Result.fail("bad_length")
    let padding = 0
    if ((first & 0x20) !== 0) {
      padding = view.getUint8(end - 1)
      // Only the last packet of a compound may be padded, section 6.4.1.
      if (end !== bytes.length || padding === 0 || padding % 4 !== 0 || padding > end - offset - headerLength)
        return Result.fail("bad_padding")
    }
    const body = bytes.subarray(offset + headerLength, end - padding)
    const packet = readBody(view.getUint8(offset + 1), first & 0x1f, body)
    if (packet === null) return Result.fail("bad_body")
    packets.push(packet)
    offset = end
  }
  return Result.succeed(packets)
}

const clampLost = (lost: number) => Math.max(-0x80_0000, Math.min(0x7f_ffff, lost))

const writeReports = (view: DataView, start: number, reports: ReadonlyArray<ReportBlock>) =>
  reports.forEach((report, i) => {
    const at = start + i * reportBlockLength
    view.setUint32(at, report.ssrc)
    view.setInt32(at + 4, clampLost(report.cumulativeLost) & 0xff_ffff)
    view.setUint8(at + 4, report.fractionLost)
    view.setUint32(at + 8, report.extendedHighestSequence)
    view.setUint32(at + 12, report.jitter)
    view.setUint32(at + 16, report.lastSenderReport)
    view.setUint32(at + 20, report.delaySinceLastSenderReport)
  })

const framed = (packetType: number, count: number, bodyLength: number): { bytes: Uint8Array; body: DataView } => {
  const bytes = new Uint8Array(headerLength + ((bodyLength + 3) & ~3))
  bytes[0] = 0x80 | (count & 0x1f)
  bytes[1] = packetType
  const view = new DataView(bytes.buffer)
  view.setUint16(2, bytes.length / 4 - 1)
  return { bytes, body: new DataView(bytes.buffer, headerLength) }
}

const writeWords = (view: DataView, words: ReadonlyArray<number>) =>
  words.forEach((word, i) => view.setUint32(4 * i, word))

/** Text of an item or a reason: UTF-8, cut at 255 octets. */
const short = (value: string) => utf8.encode(value).subarray(0, 255)

const writeOne = (packet: RtcpPacket): Uint8Array => {
  switch (packet.kind) {
    case "sender_report": {
      const reports = packet.reports.slice(0, 31)
      const { body, bytes } = framed(senderReportType, reports.length, 24 + reports.length * reportBlockLength)
      writeWords(body, [
        packet.ssrc,
        packet.ntpSeconds,
        packet.ntpFraction,
        packet.rtpTimestamp,
        packet.packetCount,
        packet.octetCount
      ])
      writeReports(body, 24, reports)
      return bytes
    }
    case "receiver_report": {
      const reports = packet.reports.slice(0, 31)
      const { body, bytes } = framed(receiverReportType, reports.length, 4 + reports.length * reportBlockLength)
      writeWords(body, [packet.ssrc])
      writeReports(body, 4, reports)
      return bytes
    }
    case "source_description": {
      const chunks = packet.chunks.slice(0, 31).map(({ items, ssrc }) => {
        const texts = items.map(({ text, type }) => ({ type, value: short(text) }))
        const length = texts.reduce((sum, { value }) => sum + 2 + value.length, 4)
        return { ssrc, texts, length: (length + 4) & ~3 }
      })
      const { body, bytes } = framed(
        sourceDescriptionType,
        chunks.length,
        chunks.reduce((sum, c) => sum + c.length, 0)
      )
      let start = headerLength
      for (const chunk of chunks) {
        body.setUint32(start - headerLength, chunk.ssrc)
        let at = start + 4
        for (const { type, value } of chunk.texts) {
          bytes[at] = type
          bytes[at + 1] = value.length
          bytes.set(value, at + 2)
          at += 2 + value.length
        }
        start += chunk.length
      }
      return bytes
    }
    case "bye": {
      const sources = packet.sources.slice(0, 31)
      const reason = packet.reason === null ? null : short(packet.reason)
      const { body, bytes } = framed(
        byeType,
        sources.length,
        4 * sources.length + (reason === null ? 0 : 1 + reason.length)
      )
      writeWords(body, sources)
      if (reason !== null) {
        bytes[headerLength + 4 * sources.length] = reason.length
        bytes.set(reason, headerLength + 4 * sources.length + 1)
      }
      return bytes
    }
  }
  const { bytes } = framed(packet.packetType, packet.count, packet.body.length)
  bytes.set(packet.body, headerLength)
  return bytes
}

/**
 * Writes packets into one datagram, in order.
 *
 * The caller keeps to section 6.1 (a report first, then a CNAME). At most 31 blocks, chunks or sources a packet, the
 * rest is left out; the body of an unknown packet is filled up to a whole word.
 */
export const write = (packets: ReadonlyArray<RtcpPacket>): Uint8Array => {
  const parts = packets.map(writeOne)
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** The middle 32 bits of an NTP time, as report blocks quote it, section 6.4.1. */
export const compactNtp = (seconds: number, fraction: number): number =>
  (((seconds & 0xffff) << 16) | (fraction >>> 16)) >>> 0

/** NTP time of Unix milliseconds, section 4; era 0 ends in 2036 and the seconds wrap. */
export const ntpTime = (epochMs: number): { readonly seconds: number; readonly fraction: number } => {
  const whole = Math.floor(epochMs / 1000)
  return {
    seconds: (whole + 2_208_988_800) >>> 0,
    fraction: Math.floor(((epochMs - whole * 1000) / 1000) * 0x1_0000_0000) >>> 0
  }
}
