/** A packet of a stream in an Ogg file. */
export interface Packet {
  readonly bytes: Uint8Array
  /**
   * The granule position of the last page, for the last packet on it: how many samples the stream has. Null for others,
   * whose positions are not needed, and are wrong in some files.
   */
  readonly granule: number | null
}

/** Whether bytes begin like an Ogg file, RFC 3533. */
export const isOgg = (bytes: Uint8Array): boolean => isPage(bytes, 0)

const isPage = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0x4f && bytes[at + 1] === 0x67 && bytes[at + 2] === 0x67 && bytes[at + 3] === 0x53

/** The length of a page's header before its table of segments. */
const headerOctets = 27
const endOfStream = 4

/**
 * The packets of the first logical stream, RFC 3533 section 6, up to its end or to the end of the file. Other streams
 * are skipped, and so are octets between pages; a packet that lacks a page is lost.
 */
export function* packets(bytes: Uint8Array): Generator<Packet, void> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let serial: number | null = null
  let sequence = 0
  /** The parts of a packet that continues on the next page; null: the next page continues nothing that is known. */
  let parts: Array<Uint8Array> | null = []
  for (let at = 0; at + headerOctets <= bytes.length;) {
    if (!isPage(bytes, at)) {
      at++
      continue
    }
    const segments = view.getUint8(at + 26)
    const body = at + headerOctets + segments
    if (body > bytes.length) return
    const lengths = bytes.subarray(at + headerOctets, body)
    const end = body + lengths.reduce((sum, length) => sum + length, 0)
    serial ??= view.getUint32(at + 14, true)
    if (view.getUint32(at + 14, true) === serial) {
      const flags = view.getUint8(at + 5)
      const isContinued = (flags & 1) === 1
      if (view.getUint32(at + 18, true) !== sequence || !isContinued) parts = isContinued ? null : []
      sequence = view.getUint32(at + 18, true) + 1
      const isEnd = (flags & endOfStream) !== 0
      const last = isEnd ? lengths.findLastIndex((length) => length < 255) : -1
      let start = body
      let from = body
      for (const [index, length] of lengths.entries()) {
        from += length
        if (length === 255) continue
        const rest = bytes.subarray(start, Math.min(from, bytes.length))
        if (parts !== null)
          yield {
            bytes: parts.length === 0 ? rest : joined([...parts, rest]),
            granule: index === last ? Number(view.getBigInt64(at + 6, true)) : null
          }
        parts = []
        start = from
      }
      if (start < from) parts?.push(bytes.subarray(start, Math.min(from, bytes.length)))
      if (isEnd) return
    }
    at = end
  }
}

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
