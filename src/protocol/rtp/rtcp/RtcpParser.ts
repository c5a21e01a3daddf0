import { Result } from "effect"
import {
  type Bye,
  type ReportBlock,
  type RtcpPacket,
  type SourceDescription,
  headerLength,
  packetType,
  reportBlockLength
} from "./Rtcp.ts"

type Malformed = "too_short" | "wrong_version" | "bad_length" | "bad_padding" | "bad_body"

const text = new TextDecoder()

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
  return { type: "source_description", chunks }
}

const readBye = (view: DataView, body: Uint8Array, count: number): Bye | null => {
  const end = 4 * count
  if (body.length < end) return null
  const sources = Array.from({ length: count }, (_, i) => view.getUint32(4 * i))
  const length = body[end]
  if (length === undefined) return { type: "bye", sources, reason: null }
  if (body.length < end + 1 + length) return null
  return { type: "bye", sources, reason: text.decode(body.subarray(end + 1, end + 1 + length)) }
}

const readBody = (type: number, count: number, body: Uint8Array): RtcpPacket | null => {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  switch (type) {
    case packetType.senderReport: {
      const reports = readReports(view, 24, count)
      if (reports === null) return null
      return {
        type: "sender_report",
        ssrc: view.getUint32(0),
        ntpSeconds: view.getUint32(4),
        ntpFraction: view.getUint32(8),
        rtpTimestamp: view.getUint32(12),
        packetCount: view.getUint32(16),
        octetCount: view.getUint32(20),
        reports
      }
    }
    case packetType.receiverReport: {
      const reports = readReports(view, 4, count)
      return reports === null ? null : { type: "receiver_report", ssrc: view.getUint32(0), reports }
    }
    case packetType.sourceDescription:
      return readChunks(view, body, count)
    case packetType.bye:
      return readBye(view, body, count)
    default:
      return { type: "unknown", packetType: type, count, body }
  }
}

/**
 * Reads a datagram, compound (section 6.1) or reduced-size (RFC 5506): the first packet may be of any type.
 *
 * One malformed packet makes the whole datagram invalid, because the octets after it cannot be trusted. Bodies of
 * unknown packets are views of `bytes`.
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
