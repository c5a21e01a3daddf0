import { describe, expect, it } from "@effect/vitest"
import { contentTypeOf, decodeBase64 } from "../../src/porting/DocumentBytes.ts"
import * as PortingSample from "../support/PortingSample.ts"

const text = (content: string) => new Uint8Array(Buffer.from(content, "latin1"))

describe("documents are known by their own bytes (guide/porting.md#documents)", () => {
  it("a whole PDF, PNG, JPEG and TIFF is one", () => {
    expect(contentTypeOf(PortingSample.pdf)).toBe("application/pdf")
    expect(contentTypeOf(PortingSample.png)).toBe("image/png")
    expect(contentTypeOf(PortingSample.jpeg)).toBe("image/jpeg")
    expect(contentTypeOf(PortingSample.tiff)).toBe("image/tiff")
  })

  it.each([
    ["nothing", new Uint8Array()],
    ["HTML", text("<html><script>alert(1)</script></html>".repeat(10))],
    ["a page that begins like a PDF", text(`%PDF-1.4\n<html><script>alert(1)</script></html>${" ".repeat(100)}`)],
    ["a PDF whose table stands behind its end", text(`%PDF-1.4\n${" ".repeat(80)}startxref\n99999\n%%EOF\n`)],
    ["a program", text(`\u007fELF${"\0".repeat(200)}`)],
    ["an archive", text(`PK\u0003\u0004${"\0".repeat(200)}`)],
    ["a signature alone", PortingSample.png.slice(0, 8)]
  ])("%s is none", (_name, bytes) => {
    expect(contentTypeOf(bytes)).toBeNull()
  })

  it("one that was cut off is none", () => {
    for (const whole of [PortingSample.pdf, PortingSample.png, PortingSample.jpeg, PortingSample.tiff])
      expect(contentTypeOf(whole.slice(0, -6))).toBeNull()
  })

  it("base64 has its alphabet and its padding, and nothing else", () => {
    expect(decodeBase64("aGVsbG8=")).toEqual(Buffer.from("hello"))
    for (const wrong of ["", "aGVsbG8", "aGVs bG8=", "aGVs-bG8=", "====", "data:application/pdf;base64,aGVsbG8="])
      expect(decodeBase64(wrong)).toBeNull()
  })
})
