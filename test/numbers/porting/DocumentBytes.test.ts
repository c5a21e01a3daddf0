import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { hash } from "node:crypto"
import { contentTypeOf, sha256 } from "../../../src/numbers/porting/DocumentBytes.ts"
import * as PortingSample from "../../support/fake/PortingSample.ts"

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

  it.effect("one is hashed in slices, and others have their turns between them", () =>
    Effect.gen(function* () {
      const bytes = new Uint8Array(10 * 1024 * 1024).fill(7)
      let turns = 0
      const turn = Effect.andThen(
        Effect.sync(() => turns++),
        Effect.yieldNow
      )
      const other = yield* Effect.forkChild(Effect.forever(turn, { disableYield: true }))
      expect(yield* sha256(bytes)).toBe(hash("sha256", bytes, "hex"))
      yield* Fiber.interrupt(other)
      expect(turns).toBeGreaterThanOrEqual(40)
    })
  )
})
