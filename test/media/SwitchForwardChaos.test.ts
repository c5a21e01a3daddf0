import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as TelephoneEvent from "../../src/protocol/rtp/TelephoneEvent.ts"
import { random } from "../protocol/rtp/RandomBytes.ts"
import * as Goertzel from "../support/Goertzel.ts"
import * as Ids from "../support/Ids.ts"
import * as ForwardRig from "./support/ForwardRig.ts"
import * as Media from "./support/MediaSample.ts"

type Side = "a" | "b"
const sides = ["a", "b"] as const
const other = { a: "b", b: "a" } as const
const phases = { a: 4, b: 13 } as const

/** A digit that a peer is pressing. */
interface Press {
  readonly train: ReadonlyArray<TelephoneEvent.TrainPacket>
  readonly startsAt: number
  /** Added to the SSRC of its sound: some peers send events as another source. */
  readonly source: number
  sent: number
}

/** The digit of each side; the same digit would count as the other's, sent back (`EchoedDigits`). */
const digitOf: Record<Side, string> = { a: "5", b: "6" }

/** Two peers on a network that delays each packet by up to `jitterMs`, in any order. */
const restless = (rig: ReturnType<typeof ForwardRig.make>, seed: number, jitterMs: number) => {
  const noise = random(seed)
  const underWay: Array<{ readonly at: number; readonly arrive: () => void }> = []
  const pressing: Record<Side, Press | null> = { a: null, b: null }
  const pressed = { a: 0, b: 0 }
  const silent = new Set<Side>()
  let heldUntil = 0

  const sample = (side: Side) => {
    const sound = rig.peers[side].make()
    const press = pressing[side]
    const event = press?.train[press.sent++]
    if (press === null) return sound
    if (event === undefined) {
      pressing[side] = null
      return sound
    }
    const { marker, payload, timestampOffset } = event
    const timestamp = press.startsAt + timestampOffset
    return { ...sound, ssrc: sound.ssrc + press.source, timestamp, marker, payload, payloadType: 101 }
  }

  const step = (ms: number): void => {
    for (const side of sides) {
      if (ms % 20 !== phases[side]) continue
      const packet = sample(side)
      const at = Math.max(ms, heldUntil) + Math.floor(noise() * (jitterMs + 1))
      if (!silent.has(side)) underWay.push({ at, arrive: () => rig.peers[side].deliver(packet) })
    }
    for (const one of underWay.filter(({ at }) => at <= ms)) {
      underWay.splice(underWay.indexOf(one), 1)
      one.arrive()
    }
  }

  return {
    pressed,
    run: (ms: number) => rig.run(ms, step),
    press: (side: Side, source: number): void => {
      if (pressing[side] !== null) return
      const train = TelephoneEvent.train(digitOf[side], 120, rig.codec.clockRate, 8000)
      pressing[side] = { train, startsAt: rig.peers[side].state.timestamp, source, sent: 0 }
      pressed[side]++
    },
    restart: (side: Side, ssrc: number): void => {
      if (pressing[side] === null) rig.peers[side].restart(ssrc, 700)
    },
    beSilent: (side: Side, ms: number): void => {
      // A digit of which no packet arrives belongs to no side.
      if (pressing[side] !== null) return
      silent.add(side)
      rig.run(ms, step)
      silent.delete(side)
    },
    /** Holds back the datagrams under way, which then come at once. */
    holdBack: (ms: number): void => {
      heldUntil = rig.ms() + ms
    }
  }
}

type Rig = ReturnType<typeof ForwardRig.make>
type Peers = ReturnType<typeof restless>

const acts: Readonly<Record<string, (rig: Rig, peers: Peers, side: Side, id: string) => void>> = {
  play: (rig, _, side, id) => {
    const rate = rig.codec.sampleRate
    rig.bench.handle({ type: "media", leg: Ids.leg(side), media: Media.play(Ids.work(id), "https://a/") })
    const sound = { rate, samples: Tone.sine(1700, -30, 90, rate) }
    rig.bench.handle({ type: "supply", leg: Ids.leg(side), id: Ids.work(id), sound, isLast: true })
  },
  sendDtmf: (rig, _, side, id) =>
    rig.bench.handle({ type: "media", leg: Ids.leg(side), media: Media.dtmf(Ids.work(id), "1", 60) }),
  press: (_, peers, side) => peers.press(side, 0),
  pressAsAnother: (_, peers, side) => peers.press(side, 77),
  reinvite: (rig, _, side) => rig.connect(Ids.leg(side)),
  hold: (rig, peers, side) => {
    rig.connect(Ids.leg(side), { direction: "inactive" })
    peers.run(100)
    rig.connect(Ids.leg(side))
  },
  restart: (_, peers, side, id) => peers.restart(side, 4711 + id.length + (id.codePointAt(1) ?? 0)),
  beSilent: (_, peers, side) => peers.beSilent(side, 700),
  holdBack: (_, peers) => peers.holdBack(150),
  stall: (rig) => rig.bench.stall(130),
  unbridge: (rig, peers, side) => {
    rig.bench.handle({ type: "unbridge", leg: Ids.leg(side) })
    peers.run(60)
    rig.bridge()
  },
  nothing: () => undefined
}
/** During these acts a digit may belong to no side, and is then not received. */
const deaf = ["hold", "unbridge", "sendDtmf", "stall"]

const Act = Schema.Literals([
  "play",
  "sendDtmf",
  "press",
  "pressAsAnother",
  "reinvite",
  "hold",
  "restart",
  "beSilent",
  "holdBack",
  "stall",
  "unbridge",
  "nothing"
])

describe("A forwarding bridge behind a bad network", () => {
  it.prop(
    "sends each peer one stream and each digit once, and comes to rest again",
    [
      Schema.Literals(["PCMU", "G722", "OPUS", "L16"]),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })),
      Schema.Literals([0, 8, 30]),
      Schema.Array(Schema.Tuple([Act, Schema.Literals(sides), Schema.Literals([1, 3, 17, 60, 140, 410, 900])]))
    ],
    ([name, seed, jitterMs, script]) => {
      const rig = ForwardRig.make(name)
      const peers = restless(rig, seed, jitterMs)
      peers.run(400)
      rig.bridge()
      peers.run(400)
      rig.forget()
      script.slice(0, 12).forEach(([act, side, ms], i) => {
        acts[act]?.(rig, peers, side, `w${i}`)
        peers.run(ms)
      })
      peers.run(1500)
      const isWhole = script.every(([act]) => !deaf.includes(act))
      for (const side of sides) {
        const leg = Ids.leg(side)
        const received = rig.received(leg)
        expect(new Set(received.map(({ ssrc }) => ssrc)).size).toBe(1)
        expect(new Set(received.map(({ sequenceNumber }) => sequenceNumber)).size).toBe(received.length)
        expect(rig.bench.digitsOf(leg)).toBe(digitOf[side].repeat(peers.pressed[side]))
        const receiver = TelephoneEvent.receiver()
        const heard = received
          .filter(({ payloadType }) => payloadType === 101)
          .filter((packet) => receiver.receive(packet, packet.at) === digitOf[other[side]]).length
        if (isWhole) expect(heard).toBe(peers.pressed[other[side]])
        expect(heard).toBeLessThanOrEqual(peers.pressed[other[side]])
      }
      rig.forget()
      const turns = new Set<number | null>()
      for (let ms = 0; ms < 1000; ms++) {
        peers.run(1)
        turns.add(rig.bench.plane.nextDue())
      }
      expect(turns.size).toBeLessThanOrEqual(12)
      for (const side of sides) {
        const received = rig.received(Ids.leg(side))
        expect(received.length).toBeGreaterThanOrEqual(47)
        expect(Goertzel.totalLevel(ForwardRig.soundOf(received, rig.codec))).toBeGreaterThan(-14)
      }
    },
    { arbitrary: { runs: 80 }, timeout: 120_000 }
  )
})
