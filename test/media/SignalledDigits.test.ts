import { describe, expect, it } from "@effect/vitest"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as TelephoneEvent from "../../src/protocol/rtp/TelephoneEvent.ts"
import * as Ids from "../support/Ids.ts"
import * as ForwardRig from "./support/ForwardRig.ts"
import { a, b } from "./support/ForwardRig.ts"
import * as Media from "./support/MediaSample.ts"

type Rig = ReturnType<typeof ForwardRig.make>

const press = (rig: Rig, digit: string) => rig.bench.handle({ type: "press", leg: a, digit })

/** For each press by signalling, whether it was new. */
const takenOf = ({ bench }: Rig) => bench.events.flatMap((event) => (event.type === "press_taken" ? [event.isNew] : []))

interface Pressing {
  readonly durationMs?: number
  /** Whether the peer sends its sound meanwhile, too; default: events are in place of it. */
  readonly hasSound?: boolean
}

/** The peer of leg a presses a digit by telephone events. */
const pressInPackets = (rig: Rig, digit: string, { durationMs = 100, hasSound = false }: Pressing = {}) => {
  const { deliver, make, state } = rig.peers.a
  const train = TelephoneEvent.train(digit, durationMs, 8000)
  const start = state.timestamp
  let at = 0
  rig.run(durationMs + 100, (now) => {
    if (now % 20 === 13) rig.peers.b.deliver(rig.peers.b.make())
    if (now % 20 !== 4) return
    const packet = train[at++]
    if (packet === undefined) return deliver(make())
    const { marker, payload, timestampOffset } = packet
    deliver({ ...state, timestamp: (start + timestampOffset) >>> 0, marker, payloadType: 101, payload })
    state.sequenceNumber = (state.sequenceNumber + 1) & 0xffff
    if (hasSound) deliver(make())
    else state.timestamp = (state.timestamp + 160) >>> 0
  })
}

/** The peer of leg a presses 5 by a tone in its sound. */
const sound5 = (rig: Rig, durationMs: number) => {
  const tone = Tone.oscillator(Tone.dtmf("5") ?? [], 8000)
  const samples = new Int16Array(160)
  const bytes = new Uint8Array(160)
  const encoder = rig.codec.encoder(null)
  let left = durationMs / 20
  rig.run(durationMs + 100, (now) => {
    if (now % 20 !== 4) return
    const packet = rig.peers.a.make()
    if (left-- <= 0) return rig.peers.a.deliver(packet)
    tone.render(samples)
    encoder.encode(samples, bytes, 0)
    rig.peers.a.deliver({ ...packet, payload: bytes.slice() })
  })
}

/** The digits that the peer of leg b was sent. */
const heard = (rig: Rig): string => {
  const receiver = TelephoneEvent.receiver()
  return rig
    .received(b)
    .filter(({ payloadType }) => payloadType === 101)
    .map((packet) => receiver.receive(packet, packet.at) ?? "")
    .join("")
}

const flashed = { event: 16, end: false, volume: 10 }

const bridged = () => {
  const rig = ForwardRig.make("PCMU")
  rig.run(400)
  rig.bridge()
  rig.run(400)
  rig.forget()
  return rig
}

describe("A digit that the signalling of a far end brings", () => {
  it("stops a prompt as every other digit, and is left to its reporter", () => {
    const rig = ForwardRig.make("PCMU")
    rig.run(100)
    rig.bench.handle({ type: "media", leg: a, media: Media.prompt(Ids.work("p"), "Press a key") })
    const sound = { rate: 8000 as const, samples: Tone.sine(440, -12, 2000, 8000) }
    rig.bench.handle({ type: "supply", leg: a, id: Ids.work("p"), sound, isLast: true })
    rig.run(100)
    press(rig, "5")
    rig.run(60)
    expect(rig.bench.mediaOf(a)).toEqual([Media.stopped(Ids.work("p"))])
    expect(takenOf(rig)).toEqual([true])
  })

  it("reaches a media stream", () => {
    const rig = ForwardRig.make("PCMU")
    rig.run(100)
    rig.stream(a, "s")
    rig.run(40)
    press(rig, "5")
    rig.run(40)
    expect(rig.server().received.filter((text) => text.includes('"dtmf"')).length).toBe(1)
  })

  it("crosses a bridge as an event of ours, while packets pass otherwise", () => {
    const rig = bridged()
    press(rig, "5")
    rig.run(500)
    expect(heard(rig)).toBe("5")
    expect(rig.bench.digitsOf(a)).toBe("")
    expect(rig.bench.plane.couldForward(a)).toBe(true)
  })

  it("counts once when packets bring it, too, whichever is first, on the leg and over a bridge", () => {
    const rig = bridged()
    pressInPackets(rig, "5")
    press(rig, "5")
    rig.run(1500)
    expect(takenOf(rig)).toEqual([false])
    expect(rig.bench.digitsOf(a)).toBe("5")
    press(rig, "6")
    rig.run(300)
    pressInPackets(rig, "6")
    rig.run(300)
    expect(takenOf(rig)).toEqual([false, true])
    expect(rig.bench.digitsOf(a)).toBe("5")
    expect(heard(rig)).toBe("56")
    rig.run(1000)
    // The next press of the same digit is a new one.
    pressInPackets(rig, "6")
    rig.run(300)
    expect(rig.bench.digitsOf(a)).toBe("56")
    expect(heard(rig)).toBe("566")
  })

  it("counts once when it sounds as a tone, too", () => {
    const rig = ForwardRig.make("PCMU", { telephoneEvent: null })
    rig.run(200)
    press(rig, "5")
    sound5(rig, 100)
    rig.run(400)
    expect(takenOf(rig)).toEqual([true])
    expect(rig.bench.digitsOf(a)).toBe("")
  })

  it("counts once when packets bring it, too, however long the key was held", () => {
    const rig = bridged()
    pressInPackets(rig, "5", { durationMs: 1500 })
    press(rig, "5")
    rig.run(500)
    expect(takenOf(rig)).toEqual([false])
    expect(rig.bench.digitsOf(a)).toBe("5")
    expect(heard(rig)).toBe("5")
    // An event of another signal, such as a hook flash, does not hold the key.
    pressInPackets(rig, "6", { durationMs: 60 })
    const { deliver, make, state } = rig.peers.a
    const flash = { ...state, payloadType: 101, payload: TelephoneEvent.write({ ...flashed, duration: 160 }) }
    rig.run(1500, (now) => {
      if (now % 20 !== 4) return
      deliver({ ...flash, marker: false, sequenceNumber: state.sequenceNumber })
      state.sequenceNumber = (state.sequenceNumber + 1) & 0xffff
      deliver(make())
    })
    press(rig, "6")
    expect(takenOf(rig)).toEqual([false, true])
  })

  it("counts once when packets of several segments bring it, too, on the leg and over a bridge", () => {
    const rig = bridged()
    press(rig, "5")
    pressInPackets(rig, "5", { durationMs: 18_000, hasSound: true })
    expect(heard(rig)).toBe("5")
    pressInPackets(rig, "6", { durationMs: 18_000 })
    press(rig, "6")
    rig.run(500)
    expect(takenOf(rig)).toEqual([true, false])
    expect(rig.bench.digitsOf(a)).toBe("6")
    expect(heard(rig)).toBe("56")
  })

  it("counts once when it sounds as a tone, too, however long that is", () => {
    const rig = ForwardRig.make("PCMU", { telephoneEvent: null })
    rig.run(200)
    sound5(rig, 1500)
    press(rig, "5")
    rig.run(500)
    expect(takenOf(rig)).toEqual([false])
    expect(rig.bench.digitsOf(a)).toBe("5")
  })

  it("is new on a leg that is not there", () => {
    const rig = ForwardRig.make("PCMU")
    rig.bench.handle({ type: "press", leg: Ids.leg("none"), digit: "5" })
    expect(takenOf(rig)).toEqual([true])
  })
})
