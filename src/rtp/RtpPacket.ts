import { Result } from "effect"

/**
 * One RTP data packet, RFC 3550 section 5.1.
 *
 * Shapes: `sequenceNumber` wraps at 2^16; `timestamp` in media clock units, wraps at 2^32; `ssrc` and `csrc` are
 * unsigned 32 bits; `payload` is without padding.
 */
export interface RtpPacket {
  readonly payloadType: number
  readonly marker: boolean
  readonly sequenceNumber: number
  readonly timestamp: number
  readonly ssrc: number
  /** Contributing sources, at most 15. */
  readonly csrc: ReadonlyArray<number>
  /** Header extension, section 5.3.1; `data` is a whole number of 32-bit words. */
  readonly extension: { readonly profile: number; readonly data: Uint8Array } | null
  readonly payload: Uint8Array
  /** Octets of padding behind the payload, the count octet included; 0 to 255. */
  readonly paddingLength: number
}

export type Malformed = "too_short" | "wrong_version" | "bad_extension" | "bad_padding"

const fixedHeaderLength = 12
const noSources: ReadonlyArray<number> = []

/**
 * Whether a datagram on a shared port is RTCP, RFC 5761 section 4: packet types 192 to 223, which RTP leaves free by not
 * using payload types 64 to 95.
 */
export const isRtcp = (bytes: Uint8Array): boolean => {
  const type = bytes[1]
  return type !== undefined && type >= 192 && type <= 223
}

/**
 * Reads a packet from any bytes.
 *
 * `payload` and the extension are views of `bytes`: whoever keeps them longer than the datagram copies them.
 */
export const parse = (bytes: Uint8Array): Result.Result<RtpPacket, Malformed> => {
  if (bytes.length < fixedHeaderLength) return Result.fail("too_short")
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const first = view.getUint8(0)
  if (first >> 6 !== 2) return Result.fail("wrong_version")
  const sources = first & 0x0f
  let offset = fixedHeaderLength + 4 * sources
  if (bytes.length < offset) return Result.fail("too_short")
  const csrc = sources === 0 ? noSources : Array.from({ length: sources }, (_, i) => view.getUint32(12 + 4 * i))

  let extension: RtpPacket["extension"] = null
  if ((first & 0x10) !== 0) {
    if (bytes.length < offset + 4) return Result.fail("bad_extension")
    const end = offset + 4 + 4 * view.getUint16(offset + 2)
    if (bytes.length < end) return Result.fail("bad_extension")
    extension = { profile: view.getUint16(offset), data: bytes.subarray(offset + 4, end) }
    offset = end
  }

  let paddingLength = 0
  if ((first & 0x20) !== 0) {
    // The count includes its own octet, so that 0 is as wrong as one that reaches into the header.
    paddingLength = view.getUint8(bytes.length - 1)
    if (paddingLength === 0 || offset + paddingLength > bytes.length) return Result.fail("bad_padding")
  }

  const second = view.getUint8(1)
  return Result.succeed({
    payloadType: second & 0x7f,
    marker: second >= 0x80,
    sequenceNumber: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    csrc,
    extension,
    payload: bytes.subarray(offset, bytes.length - paddingLength),
    paddingLength
  })
}

/**
 * Writes a packet into new bytes.
 *
 * Fields are cut to their width; sources past the fifteenth are left out; an extension whose length is not a whole
 * number of words is filled up with zeros.
 */
export const write = (packet: RtpPacket): Uint8Array => {
  const { extension, payload } = packet
  const csrc = packet.csrc.slice(0, 15)
  const padding = packet.paddingLength & 0xff
  const words = extension === null ? 0 : (extension.data.length + 3) >> 2
  const extensionStart = fixedHeaderLength + 4 * csrc.length
  const payloadStart = extensionStart + (extension === null ? 0 : 4 + 4 * words)
  const bytes = new Uint8Array(payloadStart + payload.length + padding)
  const view = new DataView(bytes.buffer)
  bytes[0] = 0x80 | (padding > 0 ? 0x20 : 0) | (extension === null ? 0 : 0x10) | csrc.length
  bytes[1] = (packet.marker ? 0x80 : 0) | (packet.payloadType & 0x7f)
  view.setUint16(2, packet.sequenceNumber)
  view.setUint32(4, packet.timestamp)
  view.setUint32(8, packet.ssrc)
  csrc.forEach((source, i) => view.setUint32(12 + 4 * i, source))
  if (extension !== null) {
    view.setUint16(extensionStart, extension.profile)
    view.setUint16(extensionStart + 2, words)
    bytes.set(extension.data, extensionStart + 4)
  }
  bytes.set(payload, payloadStart)
  if (padding > 0) bytes[bytes.length - 1] = padding
  return bytes
}
