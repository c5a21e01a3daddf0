import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import { AudioDecoder } from "../../../src/media/sound/AudioDecoder.ts"
import { AudioSource } from "../../../src/media/sound/AudioSource.ts"
import type { MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import { type Loss, MediaPlane, type Quality } from "../../../src/media/plane/MediaPlane.ts"
import * as MediaPlaneInline from "../../../src/media/plane/MediaPlaneInline.ts"
import * as IpAddress from "../../../src/domain/network/IpAddress.ts"
import { random } from "../../protocol/rtp/RandomBytes.ts"
import * as Ids from "../../support/Ids.ts"
import * as RtpSample from "../../protocol/rtp/RtpSample.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as FakeEgress from "../support/FakeEgress.ts"
import * as Media from "../support/MediaSample.ts"
import * as MemoryNetwork from "../support/MemoryNetwork.ts"
import * as FakeSpeech from "../../support/fake/FakeSpeech.ts"

const tenant = Ids.tenant("t")

const wav = Wav.write({ sampleRate: 8000, samples: Tone.sine(440, -12, 200, 8000) })
const wide = Wav.write({ sampleRate: 16_000, samples: Tone.sine(5000, -12, 200, 16_000) })

const planeOver = (network: ReturnType<typeof MemoryNetwork.make>, maxLegs = 4, maxPorts = maxLegs) => {
  const noise = random(1)
  const plane = MediaPlaneInline.layer({
    ports: network.port,
    random: () => Math.floor(noise() * 2 ** 32),
    publicAddresses: IpAddress.only("192.0.2.7"),
    mediaTimeoutMs: 3000,
    maxLegs,
    maxPorts
  })
  const egress = FakeEgress.make({ "https://a/ok.wav": { body: wav }, "https://a/wide.wav": { body: wide } })
  const sources = AudioSource.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(egress.layer, AudioDecoder.layerInline, FakeSpeech.layer))
  )
  return plane.pipe(Layer.provide(sources))
}

const listen = Effect.fnUntraced(function* (leg: LegId) {
  const events: Array<MediaEvent> = []
  const losses: Array<Loss> = []
  const measured: Array<Quality> = []
  yield* (yield* MediaPlane).subscribe(leg, {
    told: (event) => void events.push(event),
    lost: (reason) => void losses.push(reason),
    measured: (quality) => void measured.push(quality)
  })
  return { events, losses, measured }
})

describe("The media plane on a test clock", () => {
  it.effect("plays a URL to a phone, and tells its end", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const { events } = yield* listen(Ids.leg("leg"))
      yield* plane.openPhone(Ids.leg("leg"), tenant, { type: "silence" })
      yield* plane.command(Ids.leg("leg"), tenant, Media.play(Ids.work("one"), "https://a/ok.wav", 2))
      yield* plane.command(Ids.leg("leg"), tenant, Media.play(Ids.work("two"), "https://a/none.wav"))
      yield* TestClock.adjust("90 millis")
      expect(events).toStrictEqual([])
      yield* TestClock.adjust("40 millis")
      // Decoding is a promise, which takes no time of the test clock but a turn of the event loop.
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("340 millis")
      expect(events).toStrictEqual([Media.failed(Ids.work("two"), "http_404")])
      yield* TestClock.adjust("100 millis")
      expect(events).toStrictEqual([Media.failed(Ids.work("two"), "http_404"), Media.completed(Ids.work("one"))])
    }).pipe(Effect.provide(planeOver(MemoryNetwork.make())))
  )

  it.effect("plays a file to a leg of a wideband codec with all that the codec can carry", () => {
    const network = MemoryNetwork.make()
    return Effect.gen(function* () {
      const plane = yield* MediaPlane
      const leg = Ids.leg("leg")
      yield* plane.openRtp(leg, tenant)
      yield* plane.connectRtp(leg, {
        address: "192.0.2.1",
        port: 5000,
        rtcpPort: 5001,
        signallingAddress: null,
        codec: "G722",
        fmtp: null,
        audio: { send: 9, receive: 9 },
        telephoneEvent: null,
        ptimeMs: 20,
        direction: "sendrecv"
      })
      yield* plane.command(leg, tenant, Media.play(Ids.work("p"), "https://a/wide.wav"))
      yield* TestClock.adjust("40 millis")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("400 millis")
      const decoder = Codecs.table.G722.decoder()
      const frame = new Int16Array(320)
      const heard = network.sent
        .filter(({ channel }) => channel === "rtp")
        .flatMap(({ bytes }) => {
          decoder.decode(RtpSample.parse(bytes).payload, frame)
          return [...frame]
        })
      // The comparison begins at the first sample of the file, after the filter has settled.
      const from = heard.findIndex((sample) => Math.abs(sample) > 1000)
      expect(Goertzel.level(Int16Array.from(heard.slice(from + 320, from + 320 + 1600)), 5000, 16_000)).closeTo(-12, 1)
    }).pipe(Effect.provide(planeOver(network)))
  })

  it.effect("says of a digit that the signalling brings whether it is new, also of a leg that is not open", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const leg = Ids.leg("leg")
      const taken: Array<boolean> = []
      const press = (digit: string) => plane.press(leg, digit, (isNew) => void taken.push(isNew))
      yield* press("1")
      const { events } = yield* listen(leg)
      yield* plane.openPhone(leg, tenant, { type: "press", digits: "1", afterMs: 2000, everyMs: 0 })
      yield* TestClock.adjust("2500 millis")
      yield* press("1")
      yield* press("9")
      yield* press("1")
      yield* plane.close(leg)
      yield* press("1")
      expect(taken).toEqual([true, false, true, true, true])
      expect(events.length).toBe(1)
    }).pipe(Effect.provide(planeOver(MemoryNetwork.make())))
  )

  it.effect("hears what a phone presses", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const { events } = yield* listen(Ids.leg("leg"))
      yield* plane.openPhone(Ids.leg("leg"), tenant, { type: "press", digits: "1234#", afterMs: 2000, everyMs: 5000 })
      yield* TestClock.adjust("3 seconds")
      expect(events.map((event) => (event.type === "dtmf" ? event.digit : "?")).join("")).toBe("1234#")
      yield* plane.close(Ids.leg("leg"))
      yield* TestClock.adjust("30 seconds")
      expect(events.length).toBe(5)
    }).pipe(Effect.provide(planeOver(MemoryNetwork.make())))
  )

  it.effect("announces the address and an even port, and refuses a leg twice", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      expect(yield* plane.openRtp(Ids.leg("leg"), tenant)).toStrictEqual({
        addresses: IpAddress.only("192.0.2.7"),
        port: 40_000,
        placement: { gateway: "local", thread: 0 }
      })
      expect((yield* Effect.flip(plane.openRtp(Ids.leg("leg"), tenant))).reason).toBe("leg_exists")
      for (const leg of ["b", "c", "d"].map(Ids.leg)) yield* plane.openRtp(leg, tenant)
      expect((yield* Effect.flip(plane.openPhone(Ids.leg("e"), tenant, { type: "echo" }))).reason).toBe("too_many_legs")
      yield* plane.close(Ids.leg("leg"))
      yield* plane.openPhone(Ids.leg("e"), tenant, { type: "echo" })
    }).pipe(Effect.provide(planeOver(MemoryNetwork.make())))
  )

  it.effect("leaves legs for a tenant that comes late, and shares them as the calls of the first one end", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const legsOf = { loud: 0, late: 0 }
      const open = (name: keyof typeof legsOf) =>
        Effect.suspend(() =>
          plane.openPhone(Ids.leg(`${name} ${legsOf[name]}`), Ids.tenant(name), { type: "silence" })
        ).pipe(Effect.match({ onSuccess: () => ++legsOf[name] > 0, onFailure: ({ reason }) => reason }))
      const fill = (name: keyof typeof legsOf) => open(name).pipe(Effect.repeat({ while: (opened) => opened === true }))
      expect(yield* fill("loud")).toBe("too_many_legs")
      expect(legsOf.loud).toBe(91)
      expect(yield* fill("late")).toBe("too_many_legs")
      expect(legsOf.late).toBe(9)
      for (let ended = 0; legsOf.late < 45; ended++) {
        yield* plane.close(Ids.leg(`loud ${ended}`))
        if (legsOf.loud - ended > 50) expect(yield* open("loud")).toBe("too_many_legs")
        yield* fill("late")
      }
    }).pipe(Effect.provide(planeOver(MemoryNetwork.make(), 100)))
  )

  it.effect("leaves ports for a tenant that comes late, and takes none for phones without RTP", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const fill = Effect.fnUntraced(function* (name: string) {
        const ports: Array<LegId> = []
        while (true) {
          const leg = Ids.leg(`${name} ${ports.length}`)
          const opened = yield* Effect.result(plane.openRtp(leg, Ids.tenant(name)))
          if (Result.isFailure(opened)) return { reason: opened.failure.reason, ports }
          ports.push(leg)
        }
      })
      yield* plane.openPhone(Ids.leg("phone"), Ids.tenant("loud"), { type: "silence" })
      const loud = yield* fill("loud")
      expect([loud.reason, loud.ports.length]).toStrictEqual(["no_ports", 46])
      const late = yield* fill("late")
      expect([late.reason, late.ports.length]).toStrictEqual(["no_ports", 4])
      for (const leg of loud.ports.slice(0, 20)) yield* plane.close(leg)
      expect((yield* fill("later")).ports.length).toBeGreaterThan(15)
    }).pipe(Effect.provide(planeOver(MemoryNetwork.make(), 100, 50)))
  )

  it.effect("tells a timeout, and the quality before the end", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const { losses, measured } = yield* listen(Ids.leg("leg"))
      yield* plane.openRtp(Ids.leg("leg"), tenant)
      yield* plane.connectRtp(Ids.leg("leg"), {
        address: "192.0.2.1",
        port: 5000,
        rtcpPort: 5001,
        signallingAddress: null,
        codec: "PCMU",
        fmtp: null,
        audio: { send: 0, receive: 0 },
        telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
        ptimeMs: 20,
        direction: "sendrecv"
      })
      yield* TestClock.adjust("4 seconds")
      yield* plane.close(Ids.leg("leg"))
      expect(losses).toStrictEqual(["no_packets"])
      expect(measured.length).toBeGreaterThanOrEqual(1)
    }).pipe(Effect.provide(planeOver(MemoryNetwork.make())))
  )

  it.effect("frees the ports that nobody waited for", () => {
    let finish: () => void = () => undefined
    let closed = false
    const network = MemoryNetwork.make()
    const socket = MemoryNetwork.deaf(4000, () => {
      closed = true
    })
    const slow = {
      ...network,
      port: {
        open: (_: unknown, opened: (bound: typeof socket) => void) => {
          finish = () => opened(socket)
        }
      }
    }
    return Effect.gen(function* () {
      const plane = yield* MediaPlane
      const fiber = yield* Effect.forkChild(plane.openRtp(Ids.leg("leg"), tenant), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      finish()
      expect(closed).toBe(true)
      yield* plane.openPhone(Ids.leg("leg"), tenant, { type: "echo" })
    }).pipe(Effect.provide(planeOver(slow)))
  })

  it.effect("answers a command for a leg that is not open with a failure", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const { events } = yield* listen(Ids.leg("leg"))
      yield* plane.command(Ids.leg("leg"), tenant, Media.play(Ids.work("p"), "https://a/ok.wav"))
      yield* plane.command(Ids.leg("leg"), tenant, Media.dtmf(Ids.work("d"), "1"))
      yield* plane.command(Ids.leg("leg"), tenant, Media.stopPlayback)
      expect(events).toStrictEqual([
        Media.failed(Ids.work("p"), "unknown_leg"),
        Media.failed(Ids.work("d"), "unknown_leg")
      ])
    }).pipe(Effect.provide(planeOver(MemoryNetwork.make())))
  )
})
