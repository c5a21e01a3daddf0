import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as G711 from "../../../../src/protocol/audio/codec/G711.ts"
import * as ReadableTones from "../../../../src/app/testing/phone/ReadableTones.ts"

const rate = 16_000

describe("Text in tones", () => {
  it.prop(
    "is read as it was written, from whatever sample on",
    [Schema.String.check(Schema.isMaxLength(30)), Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 700 }))],
    ([text, shift]) => {
      const written = ReadableTones.write(text.toWellFormed(), rate)
      const shifted = new Int16Array(written.length + shift)
      shifted.set(written, shift)
      const read = ReadableTones.read(shifted, rate).map((phrase) => phrase.text)
      expect(read.join("")).toBe(text.toWellFormed())
    }
  )

  it("is read from 8 kHz in mu-law, at a tenth of its level", () => {
    const text = "Press 1 for sales, 2 for Zoë."
    const quiet = ReadableTones.write(text, 8000).map((sample) => sample / 10)
    const heard = G711.decode("PCMU", G711.encode("PCMU", quiet))
    expect(ReadableTones.read(heard, 8000).map((phrase) => phrase.text)).toEqual([text])
  })

  it("is in phrases where there are pauses, with their times", () => {
    const sound = new Int16Array(3 * rate)
    sound.set(ReadableTones.write("one", rate))
    sound.set(ReadableTones.write("two", rate), 2 * rate)
    expect(ReadableTones.read(sound, rate)).toMatchObject([
      { text: "one", startMs: 0, endMs: 240 },
      { text: "two", startMs: 2000, endMs: 2240 }
    ])
  })

  it("is not found in other sounds", () => {
    const noise = Int16Array.from({ length: rate }, (_, i) => 9000 * Math.sin(i * i * 0.0007))
    const voice = Int16Array.from({ length: rate }, (_, i) => 9000 * Math.sin(i * 0.05) + 3000 * Math.sin(i * 0.1))
    expect(ReadableTones.read(voice, rate)).toEqual([])
    expect(
      ReadableTones.read(noise, rate)
        .map((phrase) => phrase.text)
        .join("").length
    ).toBeLessThan(3)
  })
})
