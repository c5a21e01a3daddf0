import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import * as Snippet from "../../../src/webhook/attempt/Snippet.ts"

const codings = [
  ["gzip", gzipSync],
  ["x-gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync]
] as const

/** Text that does not compress well, so that its beginning is in the beginning of the compressed body. */
const long = Array.from({ length: 3_000 }, (_, index) => ((index * 7_919) % 1_000_003).toString(36)).join(" ")

describe("the start of an answer in the delivery log", () => {
  it.each(codings)("is decoded where the body is in %s", (coding, compress) => {
    expect(Snippet.of(compress("grüezi"), coding)).toBe("grüezi")
    expect(Snippet.of(compress("grüezi"), ` ${coding.toUpperCase()} `)).toBe("grüezi")
  })

  it.each(codings)("is decoded as far as it was read where the body is long: %s", (coding, compress) => {
    const shown = Snippet.of(compress(long).subarray(0, Snippet.bytes), coding)
    // A coding may keep its first words until a whole block is there.
    if (shown.startsWith("(")) expect(shown).toBe(`(1024 bytes of a body with Content-Encoding: ${coding})`)
    else expect(long.startsWith(shown)).toBe(true)
    expect(shown.length).toBeLessThanOrEqual(Snippet.bytes)
  })

  it.each(codings)("holds no more than its bound, whatever a body decodes to: %s", (coding, compress) => {
    const bomb = compress(Buffer.alloc(2 * 1024 * 1024)).subarray(0, Snippet.bytes)
    expect(Snippet.of(bomb, coding)).toBe(`(${bomb.length} bytes of a body with Content-Encoding: ${coding})`)
    const short = compress(Buffer.alloc(20_000, "a"))
    expect(Snippet.of(short, coding)).toBe("a".repeat(Snippet.bytes))
  })

  it.each(["gzip", "br", "compress", "gzip, br", "constructor", "x".repeat(500)])(
    "is the name of the coding where it cannot be decoded: %s",
    (coding) => {
      expect(Snippet.of(Buffer.from("not what it says"), coding)).toBe(
        `(16 bytes of a body with Content-Encoding: ${coding.slice(0, 64)})`
      )
    }
  )

  it.each([undefined, "", "identity"])("is the text of a body without a coding: %s", (coding) => {
    expect(Snippet.of(Buffer.from("plain é").subarray(0, 7), coding)).toBe("plain ")
    expect(Snippet.of(new Uint8Array(), "gzip")).toBe("")
  })
})
