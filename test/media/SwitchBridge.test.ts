import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Goertzel from "../support/Goertzel.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import type { RtpRemote } from "../../src/media/plane/Protocol.ts"
import * as Ids from "../support/Ids.ts"
import * as RtpSample from "../protocol/rtp/RtpSample.ts"
import * as Media from "./support/MediaSample.ts"
import * as SwitchBench from "./SwitchBench.ts"

const caller = Ids.leg("caller")
const inLeg = Ids.leg("in")
const outLeg = Ids.leg("out")
const callee = Ids.leg("callee")
const pcma: Partial<RtpRemote> = { codec: "PCMA", audio: { send: 8, receive: 8 } }

const wide = ["G722", "OPUS", "L16"] as const
const encoding = (codec: Codecs.CodecName): Partial<RtpRemote> => {
  const payloadType = Codecs.table[codec].payloadType ?? 97
  return { codec, audio: { send: payloadType, receive: payloadType } }
}

/** A caller and a callee, each the RTP peer of one of our two legs. */
const setup = (calleeSide: Partial<RtpRemote> = {}, callerSide: Partial<RtpRemote> = {}) => {
  const bench = SwitchBench.make()
  for (const leg of [caller, inLeg, outLeg, callee]) bench.handle({ type: "open_rtp", leg })
  const connect = (leg: typeof caller, peer: typeof caller, change: Partial<RtpRemote> = {}) =>
    bench.handle({ type: "connect_rtp", leg, remote: bench.remote(bench.portOf(peer), change) })
  connect(caller, inLeg, callerSide)
  connect(inLeg, caller, callerSide)
  connect(outLeg, callee, calleeSide)
  connect(callee, outLeg, calleeSide)
  return {
    ...bench,
    speak: (leg: typeof caller, frequency: number, rate: 8000 | 16_000 = 8000) => {
      const id = Ids.work(`tone-${frequency}`)
      bench.handle({ type: "media", leg, media: Media.play(id, "https://a/", 100) })
      bench.handle({
        type: "supply",
        leg,
        id,
        sound: { rate, samples: Tone.sine(frequency, -12, 1000, rate) },
        isLast: true
      })
    },
    /** The last 200 ms that a leg sent to its peer. */
    sentBy: (leg: typeof caller, codec: Codecs.CodecName = "PCMU"): Int16Array => {
      const decoder = Codecs.table[codec].decoder()
      const out = new Int16Array(Codecs.table[codec].sampleRate / 50)
      const sound = bench.network.sent
        .filter(({ channel, from }) => channel === "rtp" && from.port === bench.portOf(leg))
        .slice(-25)
        .map(({ bytes }) => {
          decoder.decode(RtpSample.parse(bytes).payload, out)
          return [...out]
        })
      return Int16Array.from(sound.slice(-10).flat())
    }
  }
}

describe("The switch, between bridged legs", () => {
  it("carries what each side says to the other, also from codec to codec, until the bridge ends", () => {
    const bench = setup(pcma)
    bench.speak(caller, 500)
    bench.speak(callee, 1000)
    bench.run(200)
    bench.handle({ type: "bridge", leg: inLeg, peer: outLeg })
    bench.run(1000)
    expect(Goertzel.level(bench.sentBy(outLeg, "PCMA"), 500, 8000)).toBeCloseTo(-12, 0)
    expect(Goertzel.level(bench.sentBy(outLeg, "PCMA"), 1000, 8000)).toBeLessThan(-50)
    expect(Goertzel.level(bench.sentBy(inLeg), 1000, 8000)).toBeCloseTo(-12, 0)
    bench.handle({ type: "unbridge", leg: outLeg })
    bench.run(400)
    const silent = (sound: Int16Array) => expect(Goertzel.totalLevel(sound)).toBeLessThan(-65)
    silent(bench.sentBy(inLeg))
    silent(bench.sentBy(outLeg, "PCMA"))
    expect(bench.events.filter(({ type }) => type === "bridged")).toEqual([{ type: "bridged", leg: inLeg }])
  })

  it.each(wide.flatMap((one) => wide.map((other) => [one, other] as const)))(
    "carries what is above 4 kHz between %s and %s, level for level",
    (one, other) => {
      const bench = setup(encoding(other), encoding(one))
      bench.speak(caller, 5500, 16_000)
      bench.speak(callee, 6500, 16_000)
      bench.handle({ type: "bridge", leg: inLeg, peer: outLeg })
      bench.run(1200)
      const [toCaller, toCallee] = [bench.sentBy(inLeg, one), bench.sentBy(outLeg, other)]
      expect(Math.abs(Goertzel.level(toCallee, 5500, 16_000) + 12)).toBeLessThan(2)
      expect(Math.abs(Goertzel.level(toCaller, 6500, 16_000) + 12)).toBeLessThan(2)
      expect(Goertzel.level(toCaller, 5500, 16_000)).toBeLessThan(-40)
    }
  )

  it("carries what is above 4 kHz between joined legs and phones", () => {
    const bench = SwitchBench.make()
    const [a, b, phone] = [Ids.leg("a"), Ids.leg("b"), Ids.leg("phone")]
    bench.handle({ type: "open_joined", leg: a, peer: b })
    bench.handle({ type: "open_joined", leg: b, peer: a })
    bench.handle({ type: "open_phone", leg: phone, script: { type: "echo" } })
    bench.handle({ type: "bridge", leg: b, peer: phone })
    bench.handle({ type: "media", leg: a, media: Media.play(Ids.work("p"), "https://a/") })
    const samples = Tone.sine(6500, -12, 1000, 16_000)
    bench.handle({ type: "supply", leg: a, id: Ids.work("p"), sound: { rate: 16_000, samples }, isLast: true })
    const wanted = { tracks: ["inbound"], chunkMs: 400, mostRate: 48_000, mostWaiting: 10 } as const
    const beeps = { atStart: false, everyMs: null }
    bench.handle({ type: "capture", leg: a, id: Ids.work("c"), wanted: { ...wanted, beeps } })
    bench.run(900)
    const echoed = bench.events.flatMap((event) => (event.type === "captured" ? [event.chunk] : [])).at(-1)
    expect(echoed?.rate).toBe(16_000)
    expect(Goertzel.level(echoed?.tracks[0] ?? new Int16Array(0), 6500, 16_000)).toBeCloseTo(-12, 0)
  })

  it("sends the digits of one side on to the other, and tells them to the call", () => {
    const bench = setup()
    bench.handle({ type: "bridge", leg: inLeg, peer: outLeg })
    bench.run(200)
    bench.handle({ type: "media", leg: caller, media: Media.dtmf(Ids.work("d"), "15#") })
    bench.run(2000)
    expect(bench.digitsOf(inLeg)).toBe("15#")
    expect(bench.digitsOf(callee)).toBe("15#")
    expect(bench.digitsOf(outLeg)).toBe("")
  })

  it("sends a digit back once from a phone that repeats it, and no further, however many are pressed", () => {
    const bench = SwitchBench.make()
    const [a, b] = [Ids.leg("a"), Ids.leg("b")]
    for (const leg of [a, b]) bench.handle({ type: "open_phone", leg, script: { type: "echo" } })
    bench.handle({ type: "bridge", leg: a, peer: b })
    // Both phones repeat digits: one pressed by a phone is its own, crosses to the other, and comes back.
    const pressed = "1555#".repeat(6)
    bench.handle({ type: "media", leg: a, media: Media.dtmf(Ids.work("d"), pressed) })
    bench.run(60_000)
    expect(bench.digitsOf(b)).toBe(pressed)
    const sorted = (digits: string) => digits.split("").toSorted().join("")
    expect(sorted(bench.digitsOf(a))).toBe(sorted(pressed + pressed))
    bench.handle({ type: "media", leg: b, media: Media.dtmf(Ids.work("e"), "7") })
    bench.run(10_000)
    expect(bench.digitsOf(b).slice(pressed.length)).toBe("77")
  })

  it("knows where packets could pass without being decoded", () => {
    const [same, other] = [setup(), setup(pcma)]
    for (const bench of [same, other]) {
      expect(bench.plane.couldForward(inLeg)).toBe(false)
      bench.handle({ type: "bridge", leg: inLeg, peer: outLeg })
      bench.run(200)
    }
    expect(other.plane.couldForward(inLeg)).toBe(false)
    expect(same.plane.couldForward(inLeg) && same.plane.couldForward(outLeg)).toBe(true)
    same.speak(inLeg, 500)
    expect(same.plane.couldForward(outLeg)).toBe(false)
    same.handle({ type: "media", leg: inLeg, media: Media.stopPlayback })
    same.run(100)
    expect(same.plane.couldForward(outLeg)).toBe(true)
    const remote = same.remote(same.portOf(callee), { direction: "sendonly" })
    same.handle({ type: "connect_rtp", leg: outLeg, remote })
    expect(same.plane.couldForward(inLeg)).toBe(false)
  })

  it("refuses a bridge of a leg with itself, with one that is not there, and of one that is bridged", () => {
    const bench = setup()
    bench.handle({ type: "bridge", leg: inLeg, peer: inLeg })
    bench.handle({ type: "bridge", leg: inLeg, peer: Ids.leg("nobody") })
    bench.handle({ type: "bridge", leg: Ids.leg("nobody"), peer: inLeg })
    bench.handle({ type: "bridge", leg: inLeg, peer: outLeg })
    bench.handle({ type: "bridge", leg: caller, peer: outLeg })
    bench.handle({ type: "unbridge", leg: caller })
    bench.handle({ type: "close", leg: outLeg })
    bench.handle({ type: "bridge", leg: caller, peer: inLeg })
    const answers = bench.events.flatMap((event) =>
      event.type === "bridge_refused" ? [event.reason] : event.type === "bridged" ? ["bridged"] : []
    )
    expect(answers).toEqual(["same_leg", "unknown_leg", "unknown_leg", "bridged", "already_joined", "bridged"])
  })

  it("a leg that dies of a fault of ours leaves the other alone", () => {
    let broken = false
    const defects: Array<unknown> = []
    const bench = SwitchBench.make({
      random: () => 5,
      clock: () => 0,
      onDefect: (error) => void defects.push(error),
      wallClock: () => {
        if (broken) throw new Error("clock")
        return 0
      }
    })
    bench.handle({ type: "open_rtp", leg: inLeg })
    bench.handle({ type: "open_phone", leg: outLeg, script: { type: "silence" } })
    bench.handle({ type: "connect_rtp", leg: inLeg, remote: bench.remote(9000) })
    bench.handle({ type: "bridge", leg: inLeg, peer: outLeg })
    bench.run(100)
    broken = true
    bench.run(10_000)
    expect(bench.lossesOf(inLeg)).toEqual(["plane_stopped"])
    expect(bench.lossesOf(outLeg)).toEqual([])
    expect(bench.plane.size()).toBe(1)
    expect(bench.network.bound()).toBe(0)
    expect(defects.length).toBeGreaterThan(0)
  })
})
