import * as Ogg from "../../../../src/protocol/audio/file/Ogg.ts"

const endOfStream = 4

interface Page {
  readonly packets: ReadonlyArray<Uint8Array>
  readonly granule: bigint
  readonly flags: number
}

/** Writes pages of one stream. Each packet has up to 254 octets times 255, and ends on its page. */
const write = (pages: ReadonlyArray<Page>): Uint8Array =>
  Uint8Array.from(
    pages.flatMap(({ flags, granule, packets }, sequence) => {
      const lengths = packets.flatMap(({ length }) => [
        ...Array.from({ length: Math.floor(length / 255) }, () => 255),
        length % 255
      ])
      const head = new DataView(new ArrayBuffer(27))
      for (const [i, octet] of new TextEncoder().encode("OggS").entries()) head.setUint8(i, octet)
      head.setUint8(5, flags)
      head.setBigInt64(6, granule, true)
      head.setUint32(18, sequence, true)
      head.setUint8(26, lengths.length)
      return [...new Uint8Array(head.buffer), ...lengths, ...packets.flatMap((packet) => [...packet])]
    })
  )

/** The packets of a file, each on a page of its own. The pages before the last get this granule position. */
export const apart = (file: Uint8Array, granule: bigint): Uint8Array => {
  const packets = [...Ogg.packets(file)]
  return write(
    packets.map(({ bytes, granule: last }, index) =>
      index === packets.length - 1
        ? { packets: [bytes], granule: BigInt(last ?? 0), flags: endOfStream }
        : { packets: [bytes], granule, flags: 0 }
    )
  )
}

/** The first packets of a file, and after them `count` empty ones. */
export const emptied = (file: Uint8Array, first: number, count: number): Uint8Array => {
  const packets = [...Ogg.packets(file)].map(({ bytes }) => bytes)
  const empty = Array.from({ length: 250 }, () => new Uint8Array(0))
  return write([
    ...packets.slice(0, first).map((packet) => ({ packets: [packet], granule: -1n, flags: 0 })),
    ...Array.from({ length: count / 250 }, () => ({ packets: empty, granule: -1n, flags: 0 }))
  ])
}
