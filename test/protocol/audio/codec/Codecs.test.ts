import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Goertzel from "../../../support/Goertzel.ts"

describe("The table of codecs", () => {
  it("knows a codec by what a session description calls it", () => {
    expect(Codecs.named({ encoding: "opus", clockRate: 48_000, channels: 2 })).toBe("OPUS")
    expect(Codecs.named({ encoding: "L16", clockRate: 16_000, channels: 1 })).toBe("L16")
    expect(Codecs.named({ encoding: "L16", clockRate: 24_000, channels: 1 })).toBeNull()
  })

  it("has codecs at the rates that they can be had at", () => {
    const rates = (name: Codecs.CodecName) =>
      [8000, 11_025, 16_000, 24_000, 48_000].filter((rate) => Codecs.at(name, rate)?.sampleRate === rate)
    expect(rates("PCMU")).toEqual([8000])
    expect(rates("PCMA")).toEqual([8000])
    expect(rates("G722")).toEqual([16_000])
    expect(rates("L16")).toEqual([8000, 16_000, 24_000])
    expect(rates("OPUS")).toEqual([8000, 16_000, 24_000, 48_000])
  })

  it.each(
    Codecs.names.flatMap((name) =>
      [8000, 16_000, 24_000, 48_000].flatMap((rate) => {
        const codec = Codecs.at(name, rate)
        return codec === null ? [] : [{ name, rate, codec }]
      })
    )
  )("carries speech-band sound frame by frame: $name at $rate Hz", ({ codec, rate }) => {
    const [encoder, decoder] = [codec.encoder(null), codec.decoder()]
    const sound = Tone.sine(1000, -12, 600, rate)
    const octets = new Uint8Array(codec.frameOctets)
    const heard = new Int16Array(sound.length)
    for (let at = 0; at < sound.length; at += rate / 50) {
      const length = encoder.encode(sound.subarray(at, at + rate / 50), octets, 0)
      expect(length).toBeLessThanOrEqual(codec.frameOctets)
      expect(decoder.duration(octets, 0, length)).toBe(codec.clockRate / 50)
      expect(decoder.decode(octets.subarray(0, length), heard.subarray(at))).toBe(rate / 50)
    }
    expect(Goertzel.level(heard.subarray(rate / 5), 1000, rate)).toBeCloseTo(-12, 0)
    encoder.free()
    decoder.free()
  })
})
