import { describe, expect, it } from "@effect/vitest"
import * as G711 from "../../../../src/protocol/audio/codec/G711.ts"

/** The loops of ITU-T G.191 (`ulaw_compress`, `alaw_compress`, `ulaw_expand`, `alaw_expand`), unchanged. */
const ulawCompress = (sample: number): number => {
  let absno = sample < 0 ? (~sample >> 2) + 33 : (sample >> 2) + 33
  if (absno > 0x1fff) absno = 0x1fff
  let i = absno >> 6
  let segno = 1
  while (i !== 0) {
    segno++
    i >>= 1
  }
  const high = 0x0008 - segno
  const low = 0x000f - ((absno >> segno) & 0x000f)
  const octet = (high << 4) | low
  return sample >= 0 ? octet | 0x80 : octet
}
const alawCompress = (sample: number): number => {
  let ix = sample < 0 ? ~sample >> 4 : sample >> 4
  if (ix > 15) {
    let iexp = 1
    while (ix > 16 + 15) {
      ix >>= 1
      iexp++
    }
    ix -= 16
    ix += iexp << 4
  }
  if (sample >= 0) ix |= 0x0080
  return ix ^ 0x0055
}
const ulawExpand = (octet: number): number => {
  const sign = octet < 0x80 ? -1 : 1
  const mantissa = ~octet
  const exponent = (mantissa >> 4) & 0x7
  const step = 4 << (exponent + 1)
  return sign * ((0x80 << exponent) + step * (mantissa & 0xf) + step / 2 - 4 * 33)
}
const alawExpand = (octet: number): number => {
  const ix = (octet ^ 0x55) & 0x7f
  const iexp = ix >> 4
  let mant = ix & 0xf
  if (iexp > 0) mant += 16
  mant = (mant << 4) + 8
  if (iexp > 1) mant <<= iexp - 1
  return octet > 127 ? mant : -mant
}

const everySample = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768)
const everyOctet = Uint8Array.from({ length: 256 }, (_, i) => i)

describe("G.711", () => {
  it.each([
    ["PCMU", ulawCompress],
    ["PCMA", alawCompress]
  ] as const)("encodes every sample to %s as G.191 does", (law, oracle) => {
    expect(G711.encode(law, everySample)).toStrictEqual(Uint8Array.from(everySample, oracle))
  })
  it.each([
    ["PCMU", ulawExpand],
    ["PCMA", alawExpand]
  ] as const)("decodes every octet of %s as G.191 does", (law, oracle) => {
    expect(G711.decode(law, everyOctet)).toStrictEqual(Int16Array.from(everyOctet, oracle))
  })
  it.each(["PCMU", "PCMA"] as const)(
    "keeps every octet of %s over decoding and encoding, but one of two zeros",
    (law) => {
      const again = G711.encode(law, G711.decode(law, everyOctet))
      const changed = [...everyOctet].filter((octet) => again[octet] !== octet)
      expect(changed).toStrictEqual(law === "PCMU" ? [0x7f] : [])
    }
  )
  it.each([
    ["PCMU", 0xff],
    ["PCMA", 0xd5]
  ] as const)("says silence in %s as its octet of silence", (law, octet) => {
    const out = new Uint8Array(170)
    expect(G711.codec(law).encoder(null).encode(new Int16Array(160), out, 10)).toBe(160)
    expect(out).toStrictEqual(new Uint8Array(170).fill(octet, 10))
  })
})
