import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Multipart from "../../../../src/protocol/sip/message/Multipart.ts"
import * as Random from "../../../support/Random.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (body: Uint8Array) => new TextDecoder().decode(body)
const parts = (body: string, boundary = "b") =>
  Result.getOrThrow(Multipart.parse(bytes(body), boundary)).map(({ body, headers }) => [...headers, text(body)])
const fault = (body: string, boundary = "b") =>
  Result.match(Multipart.parse(bytes(body), boundary), { onFailure: (why) => why, onSuccess: () => null })

describe("a multipart body (RFC 2046 section 5.1)", () => {
  it("is what stands between its delimiters, without the line break before each", () => {
    expect(
      parts("preamble\r\n--b\r\nc: text/plain\r\n\r\none\r\n\r\n--b  \r\n\r\ntwo\r\n--b--\r\nepilogue\r\n--b\r\n\r\nno")
    ).toEqual([[["Content-Type", "text/plain"], "one\r\n"], ["two"]])
  })
  it("may end its lines with a lone LF, fold headers, and have empty parts", () => {
    expect(parts("--b\nContent-Type: a/b;\n c=d\n\none\n--b\n--b--")).toEqual([
      [["Content-Type", "a/b; c=d"], "one"],
      [""]
    ])
  })
  it("is not cut where a line only begins like its delimiter", () => {
    expect(parts("--b\r\n\r\n--bc\r\nx --b\r\n--b x\r\n--b--")).toEqual([["--bc\r\nx --b\r\n--b x"]])
  })

  for (const [why, body, boundary] of [
    ["malformed boundary", "--\r\n\r\n----", ""],
    ["malformed boundary", "", "x".repeat(71)],
    ["malformed boundary", "", "b "],
    ["multipart body without parts", "nothing", "b"],
    ["multipart body without parts", "--b--", "b"],
    ["multipart body without end", "--b\r\n\r\none", "b"],
    ["malformed body part", "--b\r\nno colon\r\n\r\none\r\n--b--", "b"],
    ["malformed body part", `--b\r\nX: ${"x".repeat(5_000)}\r\n\r\none\r\n--b--`, "b"],
    ["too many body parts", `${"--b\r\n\r\nx\r\n".repeat(17)}--b--`, "b"]
  ] as const)
    it(`is refused: ${why} (${body.length} bytes)`, () => {
      expect(fault(body, boundary)).toBe(why)
    })

  it.prop("gives back whatever was put into it", { seed: Schema.Int }, ({ seed }) => {
    const random = Random.make(seed)
    const piece = () => ["\r\n", "--", "x", " ", "\n", "-", "b", "\r", "\u00e4"][random.below(9)] ?? ""
    const bodies = Array.from({ length: 1 + random.below(5) }, () =>
      Array.from({ length: random.below(30) }, piece).join("")
    )
    const whole = `${bodies.map((body) => `--boundary7\r\n\r\n${body}\r\n`).join("")}--boundary7--\r\n`
    expect(parts(whole, "boundary7")).toEqual(bodies.map((body) => [body]))
  })

  it.prop("never throws on any bytes", { seed: Schema.Int }, ({ seed }) => {
    const random = Random.make(seed)
    const pieces = ["--b", "--b--", "\r\n", "\n", ":", "Content-Type: a/b", "\u0000", " ", "--"]
    const body = Array.from({ length: random.below(60) }, () => pieces[random.below(pieces.length)] ?? "").join("")
    Multipart.parse(bytes(body), "b")
  })
})
