import { createSocket, type Socket } from "node:dgram"
import { readFileSync } from "node:fs"
import { expect, layer as withLayer } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric, Result } from "effect"
import * as G711 from "../../../src/protocol/audio/codec/G711.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import { Fatal } from "../../../src/runtime/process/Fatal.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import { AudioSource } from "../../../src/media/sound/AudioSource.ts"
import type { MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import { type Loss, MediaPlane, type Quality, type RtpRemote } from "../../../src/media/plane/MediaPlane.ts"
import * as AudioDecoderThreads from "../../../src/media/udp/decode/AudioDecoderThreads.ts"
import * as MediaPlaneUdp from "../../../src/media/udp/MediaPlaneUdp.ts"
import * as Descriptors from "../../../src/media/udp/packet/Descriptors.ts"
import * as PacketIo from "../../../src/media/udp/packet/PacketIo.ts"
import * as RtcpParser from "../../../src/protocol/rtp/rtcp/RtcpParser.ts"
import * as IpAddress from "../../../src/domain/network/IpAddress.ts"
import { hostile } from "../../protocol/rtp/RandomBytes.ts"
import * as TelephoneEvent from "../../../src/protocol/rtp/TelephoneEvent.ts"
import * as RtpSample from "../../protocol/rtp/RtpSample.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeEgress from "../support/FakeEgress.ts"
import * as Media from "../support/MediaSample.ts"
import { AudioDecoder } from "../../../src/media/sound/AudioDecoder.ts"
import * as NoEgress from "../../support/network/NoEgress.ts"
import * as FakeSpeech from "../../support/fake/FakeSpeech.ts"

const tenant = Ids.tenant("t")

const mp3 = new Uint8Array(
  readFileSync(new URL("../../protocol/audio/file/tone-440hz-16khz-mono.mp3", import.meta.url))
)
const wav = Wav.write({ sampleRate: 8000, samples: Tone.sine(1000, -15, 600, 8000) })

const plane = MediaPlaneUdp.layer({
  bindAddress: "127.0.0.1",
  publicAddresses: IpAddress.only("127.0.0.1"),
  portMin: 42_001,
  portMax: 42_020,
  mediaTimeoutMs: 300
}).pipe(
  Layer.provide(AudioSource.layer),
  Layer.provide(FakeSpeech.layer),
  Layer.provide(AudioDecoderThreads.layer),
  Layer.provide(FakeEgress.make({ "https://a/440.mp3": { body: mp3 }, "https://a/1000.wav": { body: wav } }, 0).layer)
)

const remote = (port: number, change: Partial<RtpRemote> = {}): RtpRemote => ({
  address: "127.0.0.1",
  port,
  rtcpPort: port + 1,
  signallingAddress: null,
  codec: "PCMU",
  fmtp: null,
  audio: { send: 0, receive: 0 },
  telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
  ptimeMs: 20,
  direction: "sendrecv",
  ...change
})

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

/** Polls until a condition holds, at most 5 s. */
const until = (what: string, holds: () => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 500; i++) {
      if (holds()) return
      yield* Effect.sleep(10)
    }
    expect.unreachable(`in vain: ${what}`)
  })

/** A bare socket that keeps the datagrams it gets. */
const socket = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ readonly raw: Socket; readonly port: number; readonly got: Array<Uint8Array> }>((resolve) => {
        const raw = createSocket("udp4")
        const got: Array<Uint8Array> = []
        raw.on("message", (bytes) => void got.push(bytes))
        raw.bind(0, "127.0.0.1", () => resolve({ raw, port: raw.address().port, got }))
      })
  ),
  ({ raw }) => Effect.sync(() => raw.close())
)

const soundOf = (datagrams: ReadonlyArray<Uint8Array>, law: G711.Law) =>
  Int16Array.from(
    datagrams.flatMap((bytes) => {
      const packet = RtpSample.parse(bytes)
      return packet.payloadType === 101 ? [] : [...G711.decode(law, packet.payload)]
    })
  )
const loudestWindow = (sound: Int16Array, frequency: number) => {
  let best = Number.NEGATIVE_INFINITY
  for (let at = 0; at + 1600 <= sound.length; at += 160)
    best = Math.max(best, Goertzel.level(sound.subarray(at, at + 1600), frequency, 8000))
  return best
}

// The sockets and threads are real, on loopback and in real time.
withLayer(plane, { excludeTestServices: true })("The media plane over UDP", (it) => {
  it.effect.each([
    { codec: "PCMU", payloadType: 0, url: "https://a/440.mp3", frequency: 440, dbfs: -12 },
    { codec: "PCMA", payloadType: 8, url: "https://a/1000.wav", frequency: 1000, dbfs: -15 }
  ] as const)(
    "a tone from $url arrives in $codec with its frequency and level",
    ({ codec, dbfs, frequency, payloadType, url }) =>
      Effect.gen(function* () {
        const plane = yield* MediaPlane
        const peer = yield* socket
        const leg = Ids.leg(`tone-${codec}`)
        const { events } = yield* listen(leg)
        const local = yield* plane.openRtp(leg, tenant)
        expect(local.port % 2).toBe(0)
        expect(local.port >= 42_001 && local.port < 42_020).toBe(true)
        yield* plane.connectRtp(leg, remote(peer.port, { codec, audio: { send: payloadType, receive: payloadType } }))
        yield* plane.command(leg, tenant, Media.play(Ids.work("p"), url))
        yield* until("the end of the playback", () => events.length > 0)
        yield* plane.close(leg)
        const sound = soundOf(peer.got, codec)
        expect(loudestWindow(sound, frequency)).closeTo(dbfs, 0.5)
        expect(loudestWindow(sound, frequency + 200)).toBeLessThan(dbfs - 30)
        expect(events).toStrictEqual([Media.completed(Ids.work("p"))])
      })
  )

  it.effect("learns of digits in the signalling of a leg, and counts one that packets brought once", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const peer = yield* socket
      const leg = Ids.leg("press")
      const { events } = yield* listen(leg)
      const local = yield* plane.openRtp(leg, tenant)
      yield* plane.connectRtp(leg, remote(peer.port))
      const payload = TelephoneEvent.write({ event: 5, end: false, volume: 10, duration: 160 })
      const packet = RtpSample.write({
        payloadType: 101,
        marker: true,
        sequenceNumber: 1,
        timestamp: 1,
        ssrc: 7,
        payload
      })
      yield* until("the digit in the packet", () => {
        peer.raw.send(packet, local.port, "127.0.0.1")
        return events.length > 0
      })
      const taken: Array<boolean> = []
      for (const digit of "56") yield* plane.press(leg, digit, (isNew) => void taken.push(isNew))
      yield* until("both answers", () => taken.length === 2)
      expect(taken).toEqual([false, true])
      yield* plane.close(leg)
    })
  )

  it.effect("shows how packets come and go, and how many could not be sent", () =>
    Effect.gen(function* () {
      const metrics = yield* Metric.snapshot
      const shown = metrics.flatMap((metric) =>
        metric.id === "media_packet_io" && metric.type === "Gauge"
          ? [[metric.attributes?.["io"], Number(metric.state.value)] as const]
          : []
      )
      const used = (yield* Effect.promise(() =>
        PacketIo.choose("kernel", { descriptors: Descriptors.make(), patience: () => 10 })
      )).chosen.io
      expect(Object.fromEntries(shown)).toEqual({ kernel: used === "kernel" ? 1 : 0, node: used === "node" ? 1 : 0 })

      const plane = yield* MediaPlane
      const leg = Ids.leg("nowhere")
      yield* plane.openRtp(leg, tenant)
      // The address cannot be reached from loopback.
      yield* plane.connectRtp(leg, { ...remote(9), address: "203.0.113.1" })
      yield* plane.command(leg, tenant, Media.dtmf(Ids.work("d"), "1"))
      for (let i = 0; i < 500; i++) {
        const isCounted = (yield* Metric.snapshot).some(
          (metric) => metric.id === "media_packet_errors_total" && metric.type === "Counter" && metric.state.count > 0
        )
        if (isCounted) return yield* plane.close(leg)
        yield* Effect.sleep(10)
      }
      expect.unreachable("no error was counted")
    })
  )

  it.effect("two legs hear each other's digits once each, and are paced by 20 ms", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const [a, b] = [yield* listen(Ids.leg("a")), yield* listen(Ids.leg("b"))]
      const [atA, atB] = [yield* plane.openRtp(Ids.leg("a"), tenant), yield* plane.openRtp(Ids.leg("b"), tenant)]
      yield* plane.connectRtp(Ids.leg("a"), remote(atB.port))
      yield* plane.connectRtp(Ids.leg("b"), remote(atA.port))
      yield* plane.command(Ids.leg("a"), tenant, Media.dtmf(Ids.work("d"), "15#"))
      yield* plane.command(Ids.leg("b"), tenant, Media.dtmf(Ids.work("e"), "99", 60))
      const digits = ({ events }: { readonly events: ReadonlyArray<MediaEvent> }) =>
        events.map((event) => (event.type === "dtmf" ? event.digit : "")).join("")
      yield* until("both sent", () => [a, b].every(({ events }) => events.some(({ type }) => type === "ended")))
      expect(digits(b)).toBe("15#")
      expect(digits(a)).toBe("99")
      yield* plane.close(Ids.leg("a"))
      yield* plane.close(Ids.leg("b"))
      yield* until("quality", () => [a, b].every(({ measured }) => measured.length > 0))
      const quality = b.measured.at(-1)
      expect.assert(quality !== undefined)
      expect(quality.packetsReceived).toBeGreaterThan(25)
      expect(quality.packetsLost).toBe(0)
    })
  )

  it.effect("drops hostile datagrams and strangers, tells a silent peer, and says BYE at the end", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const [peer, control, stranger] = [yield* socket, yield* socket, yield* socket]
      const { losses } = yield* listen(Ids.leg("h"))
      const { port } = yield* plane.openRtp(Ids.leg("h"), tenant)
      yield* plane.connectRtp(Ids.leg("h"), remote(peer.port, { rtcpPort: control.port }))
      yield* until("sound", () => peer.got.length > 3)
      // The service learns the peer from its own packet, sent back.
      peer.raw.send(peer.got[0] ?? new Uint8Array(0), port, "127.0.0.1")
      for (const bytes of hostile(500, 77, [...peer.got])) {
        stranger.raw.send(bytes, port, "127.0.0.1")
        stranger.raw.send(bytes, port + 1, "127.0.0.1")
      }
      yield* until("the timeout", () => losses.length > 0)
      const before = peer.got.length
      yield* until("sound as before", () => peer.got.length > before + 5)
      yield* plane.close(Ids.leg("h"))
      const isBye = (bytes: Uint8Array) =>
        Result.getOrElse(RtcpParser.parse(bytes), () => []).some(({ type }) => type === "bye")
      yield* until("BYE", () => control.got.some(isBye))
    })
  )

  it.effect("is out of ports after ten legs, and has them back when they close", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const ports = new Set<number>()
      let legs = 0
      let refusal: string | null = null
      while (refusal === null && legs < 20) {
        const opened = yield* Effect.result(plane.openRtp(Ids.leg(`p${legs}`), tenant))
        if (Result.isFailure(opened)) refusal = opened.failure.reason
        else {
          ports.add(opened.success.port)
          legs++
        }
      }
      expect(refusal).toBe("no_ports")
      expect(ports.size).toBe(legs)
      expect(legs).toBeLessThanOrEqual(9)
      expect(legs).toBeGreaterThanOrEqual(8)
      for (let i = 0; i < legs; i++) yield* plane.close(Ids.leg(`p${i}`))
      for (let i = 0; i < legs; i++) yield* plane.openRtp(Ids.leg(`q${i}`), tenant)
      for (let i = 0; i < legs; i++) yield* plane.close(Ids.leg(`q${i}`))
    })
  )
})

const reasons: Array<string> = []

withLayer(
  MediaPlaneUdp.layerOf(
    {
      bindAddress: "127.0.0.1",
      publicAddresses: IpAddress.only("127.0.0.1"),
      portMin: 1,
      portMax: 100,
      mediaTimeoutMs: 0
    },
    new URL("./DyingWorker.ts", import.meta.url),
    500
  ).pipe(
    Layer.provide([Layer.succeed(AudioSource, { open: () => Effect.never }), AudioDecoder.layerInline, NoEgress.layer]),
    Layer.provide(Layer.succeed(Fatal, (reason) => void reasons.push(reason)))
  ),
  { excludeTestServices: true }
)("A media thread", (it) => {
  const die = Media.dtmf(Ids.work("die"), "1")

  it.effect("has a small space for young objects, which is emptied in a fraction of a frame", () =>
    Effect.gen(function* () {
      const { port: megabytes } = yield* (yield* MediaPlane).openRtp(Ids.leg("young space"), tenant)
      expect(megabytes).toBeLessThanOrEqual(8)
    })
  )

  it.effect.each([
    { what: "dies", command: die },
    { what: "hangs", command: Media.stopPlayback }
  ])("that $what tells that its legs are lost, leaves nobody waiting, and is started again", ({ command, what }) =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const a = Ids.leg(`a ${what}`)
      const { losses } = yield* listen(a)
      yield* plane.openRtp(a, tenant)
      const waiting = yield* Effect.forkChild(
        Effect.flip(plane.openPhone(Ids.leg(`b ${what}`), tenant, { type: "echo" })),
        {
          startImmediately: true
        }
      )
      yield* plane.command(a, tenant, command)
      expect((yield* Fiber.join(waiting)).reason).toBe("plane_stopped")
      expect(losses).toStrictEqual(["plane_stopped"])
      expect((yield* plane.openRtp(a, tenant)).port).toBe(2)
    })
  )

  it.effect("that dies again and again stops the process, with a reason", () =>
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      for (let n = 0; n < 6 && reasons.length === 0; n++) {
        const leg = Ids.leg(`again ${n}`)
        const { losses } = yield* listen(leg)
        yield* plane.openRtp(leg, tenant)
        yield* plane.command(leg, tenant, die)
        yield* until("its end", () => losses.length > 0)
      }
      expect(reasons).toEqual(["the media thread died 6 times in a minute"])
    })
  )
})
