import { describe, expect, it } from "@effect/vitest"
import * as ClientMessage from "../../../../src/media/stream/dialect/ClientMessage.ts"
import * as LongMessage from "../../../../src/media/stream/dialect/LongMessage.ts"
import * as Random from "../../../support/Random.ts"

const read = (text: string): { readonly outcome: LongMessage.Outcome; readonly portions: number } => {
  const message = LongMessage.make(Buffer.from(text))
  for (let portions = 1; ; portions++) {
    const outcome = message.next()
    if (outcome !== null) return { outcome, portions }
  }
}

/** The outcome when the message is read at once. */
const atOnce = (text: string): LongMessage.Outcome => {
  const message = ClientMessage.read(text)
  if (message.type !== "media") return { type: "message", message }
  const bytes = ClientMessage.bytesOf(message.payload)
  return { type: "sound", bytes: bytes === null ? null : new Uint8Array(bytes) }
}

const { below } = Random.make(7)
const sound = (length: number) => Buffer.from(Array.from({ length }, () => below(256)))
const media = (payload: string) => JSON.stringify({ event: "media", streamSid: "ü", media: { track: "x", payload } })
const base64 = sound(300_000).toString("base64")
const lines = (base64.match(/.{1,76}/g) ?? []).join("\r\n")

describe("A long message, guide/streams.md#what-the-server-sends", () => {
  it.each<readonly [string, string]>([
    ["sound", media(base64)],
    ["sound with one octet more", media(sound(300_001).toString("base64"))],
    ["sound with two octets more", media(sound(300_002).toString("base64"))],
    ["sound without padding", media(sound(300_001).toString("base64").replaceAll("=", ""))],
    ["sound in lines, as mail has it", media(lines)],
    ["sound with escapes", media(base64).replaceAll("/", "\\/")],
    ["sound with escapes of four digits", media(base64).replaceAll("+", "\\u002b")],
    ["fields in another order", `{"media":{"payload":"${base64}"},"event":"media"}`],
    ["sound that is none", media(`${base64.slice(0, 200_000)}!${base64.slice(200_001)}`)],
    ["a backslash in the sound", media(`${base64.slice(0, 200_000)}\\${base64.slice(200_001)}`)],
    ["padding in the middle", media(`${base64.slice(0, 200_000)}====${base64}`)],
    ["another long string", JSON.stringify({ event: "clear", note: base64 })],
    ["a mark with a long name", JSON.stringify({ event: "mark", mark: { name: base64 } })],
    ["a string with quotation marks", JSON.stringify({ event: "clear", note: '"'.repeat(900) + base64 })],
    ["an open string", media(base64).slice(0, -4)],
    ["no JSON", `${media(base64)}}`]
  ])("means the same as when it is read at once: %s", (_, text) => {
    const { outcome } = read(text)
    const expected = atOnce(text)
    expect(outcome.type).toBe(expected.type)
    if (outcome.type === "message") expect(outcome).toStrictEqual(expected)
    else if (expected.type === "sound")
      expect(
        outcome.bytes === null ? null : Buffer.from(outcome.bytes).equals(expected.bytes ?? new Uint8Array())
      ).toBe(expected.bytes === null ? null : true)
  })

  it("is decoded in portions", () => {
    const { portions } = read(media(base64))
    expect(portions).toBeGreaterThanOrEqual(base64.length / (32 * 1024))
  })

  it.each([
    ["brackets", `${"[".repeat(480_000)}${"]".repeat(480_000)}`],
    ["many fields", JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n])))],
    ["many quotation marks", JSON.stringify({ event: "media", media: { payload: '"'.repeat(400_000) } })],
    ["blanks", `{"event":"clear"${" ".repeat(900_000)}}`]
  ])("is no message if it has more than strings: %s", (_, text) => {
    expect(read(text)).toStrictEqual({ outcome: { type: "message", message: { type: "malformed" } }, portions: 1 })
  })
})
