import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../../../src/protocol/audio/codec/Codecs.ts"
import * as Libopus from "../../../../src/protocol/audio/codec/Libopus.ts"
import { random } from "../../rtp/RandomBytes.ts"

describe.each(Codecs.names)("A decoder of %s", (name) => {
  it("takes what no encoder makes: it never throws, and makes as much sound as it says", () => {
    const noise = random(name.length)
    const below = (limit: number) => Math.floor(noise() * limit)
    const { clockRate, decoder, encoder, frameOctets, sampleRate } = Codecs.table[name]
    const held = Libopus.codersHeld()
    const [good, decoding] = [encoder(null), decoder()]
    const out = new Int16Array((sampleRate * 200) / 1000)
    const last = new Int16Array(sampleRate / 50)
    const frame = new Uint8Array(frameOctets)
    for (let i = 0; i < 3000; i++) {
      // The packet is noise, or a valid one that lost or changed some octets.
      const length = good.encode(last.fill(below(2000)), frame, 0)
      const payload =
        below(2) === 0 ? new Uint8Array(below(1500)).map(() => below(256)) : frame.slice(0, below(length) + 1)
      for (let n = below(4); n > 0; n--) payload[below(payload.length)] = below(256)
      const units = decoding.duration(payload, 0, payload.length)
      expect(units).toBeGreaterThanOrEqual(0)
      const ms = (units * 1000) / clockRate
      if (units > 0 && ms <= 200) {
        const made = decoding.decode(payload, out)
        expect(made).toBeGreaterThanOrEqual(0)
        expect(made).toBeLessThanOrEqual(Math.ceil((ms * sampleRate) / 1000))
      }
      if (below(3) === 0) {
        const concealed = new Int16Array(sampleRate / 50)
        const from = below(concealed.length)
        const level = decoding.conceal(concealed, { from, framesBefore: below(5), last, following: payload })
        expect(level).toBeGreaterThanOrEqual(0)
        expect(level).toBeLessThanOrEqual(1)
      }
      if (below(5) === 0) decoding.skip(below(1_000_000))
      if (below(50) === 0) decoding.reset()
    }
    good.free()
    decoding.free()
    expect(Libopus.codersHeld()).toBe(held)
  })
})
