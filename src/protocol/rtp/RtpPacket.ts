/** The fields in the header of an RTP data packet that are not about its layout, RFC 3550 section 5.1. */
export interface RtpHeader {
  /** 0 to 127. */
  readonly payloadType: number
  readonly marker: boolean
  /** Wraps at 2^16. */
  readonly sequenceNumber: number
  /** The timestamp in media clock units, wraps at 2^32. */
  readonly timestamp: number
  /** Unsigned 32 bits. */
  readonly ssrc: number
}

/** One RTP data packet in the datagram that brought it; the payload is between the offsets, without padding. */
export interface RtpPacket extends RtpHeader {
  /** Lent: code that keeps them longer copies them. */
  readonly bytes: Uint8Array
  readonly payloadStart: number
  readonly payloadEnd: number
}

type Malformed = "too_short" | "wrong_version" | "bad_extension" | "bad_padding"

/** The length of a header without contributing sources and extension. */
export const headerLength = 12

/**
 * Whether a datagram on a shared port is RTCP, RFC 5761 section 4: packet types 192 to 223, which RTP leaves free by
 * not using payload types 64 to 95.
 */
export const isRtcp = (bytes: Uint8Array): boolean => {
  const type = bytes[1]
  return type !== undefined && type >= 192 && type <= 223
}

const octet = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0
const uint16 = (bytes: Uint8Array, at: number): number => (octet(bytes, at) << 8) | octet(bytes, at + 1)
const uint32 = (bytes: Uint8Array, at: number): number => ((uint16(bytes, at) << 16) | uint16(bytes, at + 2)) >>> 0

const writeUint16 = (bytes: Uint8Array, at: number, value: number): void => {
  bytes[at] = value >>> 8
  bytes[at + 1] = value
}
const writeUint32 = (bytes: Uint8Array, at: number, value: number): void => {
  writeUint16(bytes, at, value >>> 16)
  writeUint16(bytes, at + 2, value)
}

const none: Uint8Array = new Uint8Array(0)

/** A packet object that the next packet overwrites. */
type Slot = { -readonly [K in keyof RtpPacket]: RtpPacket[K] }

export const slot = (): Slot => ({
  payloadType: 0,
  marker: false,
  sequenceNumber: 0,
  timestamp: 0,
  ssrc: 0,
  bytes: none,
  payloadStart: 0,
  payloadEnd: 0
})

/** Copies the fields of a packet, which keeps the same bytes. */
export const take = (packet: RtpPacket, into: Slot): void => {
  into.payloadType = packet.payloadType
  into.marker = packet.marker
  into.sequenceNumber = packet.sequenceNumber
  into.timestamp = packet.timestamp
  into.ssrc = packet.ssrc
  into.bytes = packet.bytes
  into.payloadStart = packet.payloadStart
  into.payloadEnd = packet.payloadEnd
}

/** Reads packets one after the other into one object, whose fields are valid until the next call. No allocation. */
export const reader = (): ((bytes: Uint8Array) => RtpPacket | Malformed) => {
  const packet = slot()
  return (bytes) => {
    if (bytes.length < headerLength) return "too_short"
    const first = octet(bytes, 0)
    if (first >> 6 !== 2) return "wrong_version"
    let start = headerLength + 4 * (first & 0x0f)
    if (bytes.length < start) return "too_short"
    if ((first & 0x10) !== 0) {
      if (bytes.length < start + 4) return "bad_extension"
      start += 4 + 4 * uint16(bytes, start + 2)
      if (bytes.length < start) return "bad_extension"
    }
    let end = bytes.length
    if ((first & 0x20) !== 0) {
      // The count includes its own octet, so 0 is as wrong as a count that reaches into the header.
      const padding = octet(bytes, end - 1)
      if (padding === 0 || start + padding > end) return "bad_padding"
      end -= padding
    }
    packet.payloadType = octet(bytes, 1) & 0x7f
    packet.marker = octet(bytes, 1) >= 0x80
    packet.sequenceNumber = uint16(bytes, 2)
    packet.timestamp = uint32(bytes, 4)
    packet.ssrc = uint32(bytes, 8)
    packet.bytes = bytes
    packet.payloadStart = start
    packet.payloadEnd = end
    return packet
  }
}

/** The payload as a view of the packet's bytes. */
export const payloadOf = ({ bytes, payloadEnd, payloadStart }: RtpPacket): Uint8Array =>
  bytes.subarray(payloadStart, payloadEnd)

/**
 * Overwrites the header of the packet in `bytes`. The layout stays: padding, contributing sources, extension.
 *
 * Fields are cut to their width. `bytes` hold at least `headerLength` octets.
 */
export const rewrite = (bytes: Uint8Array, header: RtpHeader): void => {
  bytes[1] = (header.marker ? 0x80 : 0) | (header.payloadType & 0x7f)
  writeUint16(bytes, 2, header.sequenceNumber)
  writeUint32(bytes, 4, header.timestamp)
  writeUint32(bytes, 8, header.ssrc)
}

/** Writes a header into the first `headerLength` octets of `bytes`; all octets after it are payload. */
export const writeHeader = (bytes: Uint8Array, header: RtpHeader): void => {
  bytes[0] = 0x80
  rewrite(bytes, header)
}
