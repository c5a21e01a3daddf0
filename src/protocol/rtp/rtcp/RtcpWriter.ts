import { type ReportBlock, type RtcpPacket, headerLength, packetType, reportBlockLength } from "./Rtcp.ts"

const utf8 = new TextEncoder()

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

const framed = (type: number, count: number, bodyLength: number): { bytes: Uint8Array; body: DataView } => {
  const bytes = new Uint8Array(headerLength + ((bodyLength + 3) & ~3))
  bytes[0] = 0x80 | (count & 0x1f)
  bytes[1] = type
  const view = new DataView(bytes.buffer)
  view.setUint16(2, bytes.length / 4 - 1)
  return { bytes, body: new DataView(bytes.buffer, headerLength) }
}

const writeWords = (view: DataView, words: ReadonlyArray<number>) =>
  words.forEach((word, i) => view.setUint32(4 * i, word))

/** Encodes the text of an item or a reason: UTF-8, cut at 255 octets. */
const short = (value: string) => utf8.encode(value).subarray(0, 255)

const writeOne = (packet: RtcpPacket): Uint8Array => {
  switch (packet.type) {
    case "sender_report": {
      const reports = packet.reports.slice(0, 31)
      const { body, bytes } = framed(packetType.senderReport, reports.length, 24 + reports.length * reportBlockLength)
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
      const { body, bytes } = framed(packetType.receiverReport, reports.length, 4 + reports.length * reportBlockLength)
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
        packetType.sourceDescription,
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
        packetType.bye,
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
 * The caller complies with section 6.1 (a report first, then a CNAME). A packet holds at most 31 blocks, chunks or
 * sources; any more are left out. The body of an unknown packet is padded to a whole word.
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
