import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import type { Frame } from "../../src/media/Frame.ts"
import * as Payloads from "../../src/media/Payloads.ts"
import * as RtpSender from "../../src/media/rtp/RtpSender.ts"

const encoding = (codec: Codecs.CodecName) => {
  const type = Codecs.table[codec].payloadType ?? 97
  return { codec, fmtp: null, audio: { send: type, receive: type }, telephoneEvent: null, ptimeMs: 20 }
}
const sender = () => RtpSender.make({ ssrc: 1, sequenceNumber: 1, timestamp: 1 })

describe("A frame that several peers are sent", () => {
  it.each(["PCMU", "PCMA", "L16", "G722", "OPUS"] as const)(
    "has the payloads that each would have alone, in %s",
    (codec) => {
      const rate = Codecs.table[codec].sampleRate
      const sound = Tone.sine(440, -12, 200, rate)
      const payloads = Payloads.make()
      const shared: Frame = { rate, samples: new Int16Array(rate / 50), payloads }
      const [alone, one, other] = [sender(), sender(), sender()]
      for (let at = 0; at < sound.length; at += rate / 50) {
        shared.samples.set(sound.subarray(at, at + rate / 50))
        payloads.clear()
        const { payloads: _, ...plain } = shared
        const length = alone.next(plain, encoding(codec))
        for (const each of [one, other]) {
          expect(each.next(shared, encoding(codec))).toBe(length)
          expect(each.bytes.subarray(0, length)).toEqual(alone.bytes.subarray(0, length))
        }
      }
      for (const each of [alone, one, other]) each.close()
    }
  )

  it("is encoded once for each codec, until it changes", () => {
    const encoded: Array<number> = []
    const encoder = {
      encode: (samples: Int16Array, out: Uint8Array, at: number) => {
        encoded.push(samples[0] ?? 0)
        out[at] = samples[0] ?? 0
        return 1
      },
      reported: () => undefined,
      free: () => undefined
    }
    const payloads = Payloads.make()
    const out = new Uint8Array(4)
    const write = (codec: Codecs.CodecName, sample: number) =>
      payloads.write(codec, encoder, Int16Array.of(sample), out, 2)
    expect([write("PCMU", 7), write("PCMU", 7), write("PCMA", 7)]).toEqual([1, 1, 1])
    expect(encoded).toEqual([7, 7])
    payloads.clear()
    write("PCMU", 9)
    expect(encoded).toEqual([7, 7, 9])
    expect([...out]).toEqual([0, 0, 9, 0])
  })
})
