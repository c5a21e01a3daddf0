import * as RtpPacket from "../../../src/protocol/rtp/RtpPacket.ts"

/** A packet with every field that RFC 3550 section 5.1 allows. */
export interface Sample extends RtpPacket.RtpHeader {
  readonly csrc?: ReadonlyArray<number>
  /** `data` is a whole number of 32-bit words. */
  readonly extension?: { readonly profile: number; readonly data: Uint8Array } | null
  readonly payload: Uint8Array
  /** The count octet included; 0: none. */
  readonly paddingLength?: number
}

export const write = ({ csrc = [], extension = null, paddingLength = 0, payload, ...header }: Sample): Uint8Array => {
  const extensionStart = RtpPacket.headerLength + 4 * csrc.length
  const payloadStart = extensionStart + (extension === null ? 0 : 4 + extension.data.length)
  const bytes = new Uint8Array(payloadStart + payload.length + paddingLength)
  const view = new DataView(bytes.buffer)
  bytes[0] = 0x80 | (paddingLength > 0 ? 0x20 : 0) | (extension === null ? 0 : 0x10) | csrc.length
  bytes[1] = (header.marker ? 0x80 : 0) | header.payloadType
  view.setUint16(2, header.sequenceNumber)
  view.setUint32(4, header.timestamp)
  view.setUint32(8, header.ssrc)
  csrc.forEach((source, i) => view.setUint32(12 + 4 * i, source))
  if (extension !== null) {
    view.setUint16(extensionStart, extension.profile)
    view.setUint16(extensionStart + 2, extension.data.length / 4)
    bytes.set(extension.data, extensionStart + 4)
  }
  bytes.set(payload, payloadStart)
  if (paddingLength > 0) bytes[bytes.length - 1] = paddingLength
  return bytes
}

export type Parsed = RtpPacket.RtpHeader & { readonly payload: Uint8Array }

/** Returns the contents of a datagram, copied; throws when it is malformed. */
export const parse = (bytes: Uint8Array): Parsed => {
  const packet = RtpPacket.reader()(bytes)
  if (typeof packet === "string") throw new Error(packet)
  const { marker, payloadType, sequenceNumber, ssrc, timestamp } = packet
  return { payloadType, marker, sequenceNumber, timestamp, ssrc, payload: RtpPacket.payloadOf(packet).slice() }
}
