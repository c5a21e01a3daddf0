import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import type { CodecName } from "../../../src/protocol/audio/codec/Codecs.ts"
import * as Sounds from "../../protocol/audio/detect/Sounds.ts"
import * as Ids from "../../support/Ids.ts"
import * as Media from "../support/MediaSample.ts"
import * as SwitchBench from "../SwitchBench.ts"

const [a, b] = [Ids.leg("a"), Ids.leg("b")]
type Bench = ReturnType<typeof SwitchBench.make>
const events = { send: 101, receive: 101, clockRate: 8000 }

/** Two RTP legs that are each other's peer; `agreed`: whether each has agreed to telephone events. */
const pair = (codec: CodecName, agreed: { readonly a: boolean; readonly b: boolean }) => {
  const bench = SwitchBench.make()
  for (const leg of [a, b]) bench.handle({ type: "open_rtp", leg })
  const payloadType = Codecs.table[codec].payloadType ?? 96
  const connect = (leg: typeof a, peer: typeof a, hasEvents: boolean) =>
    bench.handle({
      type: "connect_rtp",
      leg,
      remote: bench.remote(bench.portOf(peer), {
        codec,
        audio: { send: payloadType, receive: payloadType },
        telephoneEvent: hasEvents ? events : null
      })
    })
  connect(a, b, agreed.a)
  connect(b, a, agreed.b)
  bench.run(200)
  return bench
}
const press = (bench: Bench, digits: string) => {
  bench.handle({ type: "media", leg: a, media: Media.dtmf(Ids.work("digits"), digits) })
  bench.run(300 * digits.length + 1000)
}
/** Plays a prompt that contains the tones. */
const playTones = (bench: Bench, digits: string) => {
  bench.handle({ type: "media", leg: a, media: Media.play(Ids.work("tones"), "https://a/tones.wav") })
  const sound = { rate: 8000, samples: Sounds.join(Sounds.digits(digits), Sounds.silence(200)) } as const
  bench.handle({ type: "supply", leg: a, id: Ids.work("tones"), sound, isLast: true })
}

describe("Digits over RTP", () => {
  it.each(["PCMU", "PCMA", "G722", "OPUS"] as const)("that are tones in %s are heard once each", (codec) => {
    const bench = pair(codec, { a: false, b: false })
    press(bench, "1234567890*#1155")
    expect(bench.digitsOf(b)).toBe("1234567890*#1155")
  })

  it.each(["PCMU", "G722"] as const)("that come as events and as tones in %s at once are told once", (codec) => {
    const bench = pair(codec, { a: true, b: true })
    playTones(bench, "159#159#")
    press(bench, "159#")
    bench.run(2000)
    expect(bench.digitsOf(b)).toBe("159#")
  })

  it("that come as tones only, from a peer that agreed to events, are sound", () => {
    const bench = pair("PCMU", { a: false, b: true })
    press(bench, "159#")
    expect(bench.digitsOf(b)).toBe("")
  })
})
