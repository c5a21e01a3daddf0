/** Octets of FLAC (RFC 9639) that no encoder would write. */

const crc = (octets: ReadonlyArray<number>, bits: 8 | 16, polynomial: number): number => {
  let sum = 0
  for (const octet of octets) {
    sum ^= octet << (bits - 8)
    for (let i = 0; i < 8; i++) sum = (sum << 1) ^ (((sum >> (bits - 1)) & 1) * polynomial)
    sum &= 2 ** bits - 1
  }
  return sum
}
const be = (value: number, width: number) =>
  Array.from({ length: width }, (_, i) => (value >> (8 * (width - 1 - i))) & 255)

interface Shape {
  readonly sampleRate: number
  /** The constant value of each channel, 16 bits. */
  readonly values: ReadonlyArray<number>
  readonly length: number
}

/** The header of frame `number`, up to 127, with its sum. */
export const header = ({ length, sampleRate, values }: Shape, number: number): ReadonlyArray<number> => {
  const octets = [0xff, 0xf8, 0x7d, ((values.length - 1) << 4) | 8, number, ...be(length - 1, 2), ...be(sampleRate, 2)]
  return [...octets, crc(octets, 8, 7)]
}

const frame = (shape: Shape, number: number): ReadonlyArray<number> => {
  const octets = [...header(shape, number), ...shape.values.flatMap((value) => [0, ...be(value, 2)])]
  return [...octets, ...be(crc(octets, 16, 0x8005), 2)]
}

/** A file whose metadata say nothing. */
export const file = (octets: ReadonlyArray<number>): Uint8Array =>
  Uint8Array.from([0x66, 0x4c, 0x61, 0x43, 0x80, 0, 0, 34, ...Array.from({ length: 34 }, () => 0), ...octets])

/** A file of `count` frames of one shape. */
export const fileOf = (shape: Shape, count: number): Uint8Array =>
  file(Array.from({ length: count }, (_, number) => frame(shape, number)).flat())
