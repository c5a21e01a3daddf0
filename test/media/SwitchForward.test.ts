import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as TelephoneEvent from "../../src/protocol/rtp/TelephoneEvent.ts"
import * as RtpSample from "../protocol/rtp/RtpSample.ts"
import * as Goertzel from "../support/Goertzel.ts"
import * as Ids from "../support/Ids.ts"
import * as ForwardRig from "./support/ForwardRig.ts"
import { a, b } from "./support/ForwardRig.ts"
import * as Media from "./support/MediaSample.ts"
import * as Click from "./mix/Click.ts"

const clockStep = (rig: ReturnType<typeof ForwardRig.make>) => rig.codec.clockRate / 50

/** Numbers and timestamps advance by one packet each, from one SSRC. */
const expectContinuous = (packets: ReadonlyArray<ForwardRig.Received>, step: number) => {
  const [first] = packets
  packets.forEach((packet, i) => {
    expect(packet.ssrc).toBe(first?.ssrc)
    expect((packet.sequenceNumber - (first?.sequenceNumber ?? 0)) & 0xffff).toBe(i)
    expect((packet.timestamp - (first?.timestamp ?? 0)) >>> 0).toBe(i * step)
  })
}

/** 20 ms of sound without any would show as a level far below the tone's. */
const quietest = (sound: Int16Array, rate: number): number => {
  let found = Number.POSITIVE_INFINITY
  const window = rate / 100
  for (let at = 0; at + window <= sound.length; at += window)
    found = Math.min(found, Goertzel.totalLevel(sound.subarray(at, at + window)))
  return found
}

const play = (rig: ReturnType<typeof ForwardRig.make>, leg: typeof a, ms: number, dbfs = -30) => {
  const id = Ids.work(`p${rig.ms()}`)
  const rate = rig.codec.sampleRate
  rig.bench.handle({ type: "media", leg, media: Media.play(id, "https://a/") })
  const sound = { rate, samples: Tone.sine(1700, dbfs, ms, rate) }
  rig.bench.handle({ type: "supply", leg, id, sound, isLast: true })
}

const forwarding = (name: Parameters<typeof ForwardRig.make>[0]) => {
  const rig = ForwardRig.make(name)
  rig.run(400)
  rig.bridge()
  rig.run(400)
  return rig
}

describe("Bridged legs of one packet format", () => {
  it.each(["PCMU", "G722", "OPUS", "L16"] as const)(
    "have their packets passed on as they come, in %s: our SSRC, our numbers and timestamps, the same payload",
    (name) => {
      const rig = forwarding(name)
      rig.forget()
      const sent: Array<{ readonly payload: Uint8Array; readonly at: number }> = []
      rig.run(400, (ms) => {
        if (ms % 20 !== 4) return
        const packet = rig.peers.a.make()
        sent.push({ payload: packet.payload, at: ms })
        rig.peers.a.deliver(packet)
      })
      const received = rig.received(b)
      expect(received.map(({ payload }) => payload)).toEqual(sent.map(({ payload }) => payload))
      expect(received.map(({ at }) => at)).toEqual(sent.map(({ at }) => at + 1))
      expect(received.every(({ payloadType, ssrc }) => payloadType === rig.payloadType && ssrc !== 9000)).toBe(true)
      expectContinuous(received, clockStep(rig))
    }
  )

  it.each(["PCMU", "L16"] as const)("are bridged, play and are unbridged without a gap or a click, in %s", (name) => {
    const rig = ForwardRig.make(name)
    const { sampleRate } = rig.codec
    rig.run(400)
    rig.bridge()
    rig.run(100)
    rig.forget()
    for (let i = 0; i < 5; i++) {
      rig.run(203)
      play(rig, b, 100)
      rig.run(260)
    }
    const received = rig.received(b)
    expectContinuous(received, clockStep(rig))
    const sound = ForwardRig.soundOf(received, rig.codec)
    expect(Goertzel.totalLevel(sound)).toBeCloseTo(-12, 0)
    expect(quietest(sound, sampleRate)).toBeGreaterThan(-24)
    if (name === "L16") expect(Click.largest(sound)).toBeLessThan(900)
    // Packets are forwarded before and after: a tick in which waiting packets went out has more than one.
    expect(rig.bench.plane.couldForward(a)).toBe(true)
  })

  it("are bridged in the middle of a packet of 60 ms, and unbridged, without a gap", () => {
    const rig = ForwardRig.make("PCMU", { ptimeMs: 60 })
    rig.run(210)
    play(rig, b, 90)
    rig.run(110)
    rig.bridge()
    rig.run(300)
    rig.bench.handle({ type: "unbridge", leg: a })
    rig.run(200)
    const received = rig.received(b)
    const lengths = new Set(received.map(({ payload }) => payload.length))
    expect(lengths).toContain(480)
    expect(lengths).toContain(160)
    let [number, timestamp] = [received[0]?.sequenceNumber ?? 0, received[0]?.timestamp ?? 0]
    for (const packet of received) {
      expect([packet.sequenceNumber, packet.timestamp]).toEqual([number, timestamp])
      number = (number + 1) & 0xffff
      timestamp = (timestamp + packet.payload.length) >>> 0
    }
  })

  it("let captures hear decoded frames at their tick, without a gap, whatever the path", () => {
    const rig = forwarding("L16")
    const capture = (leg: typeof a, id: string) =>
      rig.bench.handle({
        type: "capture",
        leg,
        id: Ids.work(id),
        wanted: {
          tracks: ["inbound", "outbound"],
          chunkMs: 20,
          mostRate: 48_000,
          mostWaiting: 1000,
          beeps: { atStart: false, everyMs: null }
        }
      })
    capture(a, "a")
    rig.run(400)
    play(rig, b, 100)
    rig.run(300)
    capture(b, "b")
    rig.run(700)
    for (const [id, inbound, outbound] of [
      ["a", 440, 550],
      ["b", 550, 440]
    ] as const) {
      const chunks = rig.bench.events.flatMap((event) =>
        event.type === "captured" && event.id === id ? [event.chunk] : []
      )
      expect(chunks.every(({ at }, i) => at === (chunks[0]?.at ?? 0) + 20 * i)).toBe(true)
      const track = (index: number) =>
        Int16Array.from(chunks.slice(1).flatMap(({ tracks }) => [...(tracks[index] ?? [])]))
      expect(Goertzel.level(track(0), inbound, 16_000)).toBeCloseTo(-12, 0)
      expect(Click.largest(track(0))).toBeLessThan(400)
      expect(Goertzel.level(track(1), outbound, 16_000)).toBeGreaterThan(-13.5)
      expect(quietest(track(1), 16_000)).toBeGreaterThan(-24)
    }
  })

  it.each(["PCMU", "G722", "L16"] as const)(
    "let a capture hear no step where packets begin to pass, stop to pass, and where the bridge ends, in %s",
    (name) => {
      const rig = ForwardRig.make(name)
      const { sampleRate } = rig.codec
      rig.run(400)
      rig.bench.handle({
        type: "capture",
        leg: b,
        id: Ids.work("b"),
        wanted: {
          tracks: ["outbound"],
          chunkMs: 20,
          mostRate: 48_000,
          mostWaiting: 1000,
          beeps: { atStart: false, everyMs: null }
        }
      })
      rig.run(100)
      rig.bridge()
      for (let i = 0; i < 3; i++) {
        rig.run(307)
        play(rig, b, 100, -60)
        rig.run(300)
      }
      rig.bench.handle({ type: "unbridge", leg: a })
      rig.run(100)
      const chunks = rig.bench.events.flatMap((event) => (event.type === "captured" ? [event.chunk] : []))
      const sound = Int16Array.from(chunks.flatMap(({ tracks }) => [...(tracks[0] ?? [])]))
      const steady = Click.largest(sound.subarray(sampleRate * 0.2, sampleRate * 0.3))
      // A sixth of it would be the height of a step: -50 dBFS.
      expect(Click.largest(sound)).toBeLessThan(Math.max(2.5 * steady, 6 * 100))
    }
  )

  it("lose, reorder and double no more than the network did", () => {
    const rig = forwarding("PCMU")
    rig.forget()
    const { make, deliver } = rig.peers.a
    const packets = Array.from({ length: 10 }, make)
    const order = [0, 1, 3, 2, 4, 4, 6, 7, 8, 9]
    let n = 0
    rig.run(220, (ms) => {
      const packet = packets[order[n] ?? -1]
      if (ms % 20 === 4 && packet !== undefined) {
        deliver(packet)
        n++
      }
    })
    const received = rig.received(b)
    const [first] = received
    expect(received.map(({ sequenceNumber }) => (sequenceNumber - (first?.sequenceNumber ?? 0)) & 0xffff)).toEqual([
      0, 1, 3, 2, 4, 6, 7, 8, 9
    ])
    expect(received.map(({ timestamp }) => ((timestamp - (first?.timestamp ?? 0)) >>> 0) / 160)).toEqual([
      0, 1, 3, 2, 4, 6, 7, 8, 9
    ])
  })

  it("go on in the same stream, marked, when the peer goes on from another source", () => {
    const rig = forwarding("PCMU")
    rig.forget()
    rig.run(200)
    rig.peers.a.restart(4711, 1000)
    rig.run(400)
    const received = rig.received(b)
    expect(new Set(received.map(({ ssrc }) => ssrc)).size).toBe(1)
    received.forEach(({ sequenceNumber }, i) =>
      expect((sequenceNumber - (received[0]?.sequenceNumber ?? 0)) & 0xffff).toBe(i)
    )
    expect(received.filter(({ marker }) => marker).length).toBe(1)
    const steps = received.slice(1).map(({ timestamp }, i) => (timestamp - (received[i]?.timestamp ?? 0)) >>> 0)
    expect(steps.every((step) => step >= 160 && step <= 800)).toBe(true)
    const sound = ForwardRig.soundOf(received, rig.codec)
    expect(Goertzel.level(sound.subarray(sound.length - 800), 1000, 8000)).toBeCloseTo(-12, 0)
  })

  it("have digits passed on as they come, each once, told to the call once", () => {
    const rig = forwarding("PCMU")
    rig.forget()
    const { deliver, state } = rig.peers.a
    const digit = (digit: string, ms: number) => {
      const train = TelephoneEvent.train(digit, ms, 8000)
      const start = state.timestamp
      let at = 0
      rig.run(train.length * 20, (now) => {
        if (now % 20 !== 4) return
        const packet = train[at++]
        if (packet === undefined) return
        deliver({ ...state, timestamp: start, marker: packet.marker, payloadType: 101, payload: packet.payload })
        state.sequenceNumber = (state.sequenceNumber + 1) & 0xffff
      })
      state.timestamp = (start + train.length * 160) >>> 0
    }
    digit("5", 100)
    rig.run(100)
    digit("#", 700)
    rig.run(300)
    const events = rig.received(b).filter(({ payloadType }) => payloadType === 101)
    const receiver = TelephoneEvent.receiver()
    const heard = events.map((packet) => receiver.receive(packet, packet.at)).filter((one) => one !== null)
    expect(heard).toEqual(["5", "#"])
    expect(events.length).toBe(7 + 37)
    expect(rig.bench.digitsOf(a)).toBe("5#")
    expect(
      rig
        .received(b)
        .every(
          ({ sequenceNumber }, i, all) =>
            i === 0 || ((sequenceNumber - (all[i - 1]?.sequenceNumber ?? 0)) & 0xffff) === 1
        )
    ).toBe(true)
  })

  it("have a press of two seconds passed on to its end from a peer whose timestamp runs", () => {
    const rig = forwarding("PCMU")
    rig.forget()
    const { deliver, make, state } = rig.peers.a
    const train = TelephoneEvent.train("3", 2000, 8000)
    let at = 0
    rig.run(2400, (now) => {
      if (now % 20 !== 4) return
      const packet = train[at++]
      if (packet === undefined) return deliver(make())
      deliver({ ...state, marker: packet.marker, payloadType: 101, payload: packet.payload })
      state.sequenceNumber = (state.sequenceNumber + 1) & 0xffff
      state.timestamp = (state.timestamp + 160) >>> 0
    })
    expect(rig.bench.digitsOf(a)).toBe("3")
    const received = rig.received(b)
    const events = received.filter(({ payloadType }) => payloadType === 101)
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(1)
    const ends = events.map(({ payload }) => Result.getOrThrow(TelephoneEvent.parse(payload)).end)
    expect(ends).toEqual(train.map((_, i) => i >= train.length - 3))
    // The first sound after such a jump is dropped, because a second packet has to confirm it.
    expect(received.filter(({ payloadType }) => payloadType === 0).length).toBe(120 - train.length - 1)
  })

  it.each([
    ["that gives each end a new timestamp", (index: number) => Math.max(0, index - 4) * 160],
    ["whose timestamp runs", (index: number) => index * 160]
  ])("have each press passed on as one event from a peer %s", (_, later) => {
    const rig = forwarding("PCMU")
    rig.forget()
    const { deliver, make, state } = rig.peers.a
    const press = (digit: string) => {
      const train = TelephoneEvent.train(digit, 100, 8000)
      const start = state.timestamp
      let at = 0
      rig.run(200, (now) => {
        if (now % 20 !== 4) return
        const packet = train[at]
        if (packet === undefined) return deliver(make())
        const timestamp = (start + later(at)) >>> 0
        deliver({ ...state, timestamp, marker: packet.marker, payloadType: 101, payload: packet.payload })
        at++
        state.sequenceNumber = (state.sequenceNumber + 1) & 0xffff
        state.timestamp = (state.timestamp + 160) >>> 0
      })
    }
    for (const digit of "1224") press(digit)
    expect(rig.bench.digitsOf(a)).toBe("1224")
    const events = rig.received(b).filter(({ payloadType }) => payloadType === 101)
    expect(events.length).toBe(4 * 7)
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(4)
    const sound = rig.received(b).filter(({ payloadType }) => payloadType === 0)
    expect(sound.length).toBe(4 * 3)
  })

  it("have a digit that both peers repeat passed on and back, and no further", () => {
    const rig = forwarding("PCMU")
    rig.forget()
    /** A peer that repeats each event that it gets, packet for packet, in place of its sound. */
    const repeating = (peer: typeof rig.peers.a, leg: typeof a) => {
      const waiting: Array<RtpSample.Parsed> = []
      const { sent } = rig.bench.network
      let [seen, of, at] = [sent.length, -1, 0]
      return (now: number, phase: number) => {
        for (; seen < sent.length; seen++) {
          const datagram = sent[seen]
          if (datagram?.channel !== "rtp" || datagram.from.port !== rig.bench.portOf(leg)) continue
          const packet = RtpSample.parse(datagram.bytes)
          if (packet.payloadType === 101) waiting.push(packet)
        }
        if (now % 20 !== phase) return
        const event = waiting.shift()
        const { deliver, make, state } = peer
        if (event === undefined) return deliver(make())
        const sound = make()
        if (event.timestamp !== of) [of, at] = [event.timestamp, sound.timestamp ?? 0]
        deliver({
          ...state,
          sequenceNumber: sound.sequenceNumber,
          timestamp: at,
          payloadType: 101,
          payload: event.payload
        })
      }
    }
    const [fromA, fromB] = [repeating(rig.peers.a, a), repeating(rig.peers.b, b)]
    const both = (now: number): void => {
      fromA(now, 4)
      fromB(now, 13)
    }
    rig.run(100, both)
    rig.bench.handle({ type: "media", leg: a, media: Media.dtmf(Ids.work("d"), "5") })
    rig.run(3000, both)
    const [atA, atB] = [rig.bench.digitsOf(a), rig.bench.digitsOf(b)]
    rig.run(4000, both)
    expect([rig.bench.digitsOf(a), rig.bench.digitsOf(b)]).toEqual([atA, atB])
    expect(atA.length + atB.length).toBeLessThan(6)
    // Digits that are pressed later pass as before.
    rig.forget()
    rig.run(200)
    expect(rig.received(b).every(({ at }) => at % 20 === 5)).toBe(true)
  })

  it("end a digit that goes on when something is played, and send no second one", () => {
    const rig = forwarding("PCMU")
    rig.forget()
    const { deliver, state } = rig.peers.a
    const start = state.timestamp
    const train = TelephoneEvent.train("7", 600, 8000)
    let at = 0
    rig.run(600, (now) => {
      if (now % 20 !== 4) return
      if (at === 8) play(rig, b, 200)
      const packet = train[at++]
      if (packet === undefined) return
      deliver({ ...state, timestamp: start, marker: packet.marker, payloadType: 101, payload: packet.payload })
      state.sequenceNumber = (state.sequenceNumber + 1) & 0xffff
    })
    const events = rig.received(b).filter(({ payloadType }) => payloadType === 101)
    const receiver = TelephoneEvent.receiver()
    expect(events.map((packet) => receiver.receive(packet, packet.at)).filter((one) => one !== null)).toEqual(["7"])
    expect(events.slice(-3).map(({ payload }) => (payload[1] ?? 0) & 0x80)).toEqual([0x80, 0x80, 0x80])
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(1)
    expect(rig.bench.digitsOf(a)).toBe("7")
  })

  it("are sent silence in frames when the other peer sends nothing for long, and packets again when it does", () => {
    const rig = forwarding("PCMU")
    rig.run(2000, (ms) => {
      if (ms % 20 === 13) rig.peers.b.deliver(rig.peers.b.make())
    })
    rig.forget()
    rig.run(200, () => undefined)
    expect(rig.received(b).length).toBe(10)
    // Time has passed meanwhile.
    rig.peers.a.state.timestamp += 110 * 160
    rig.run(1000)
    rig.forget()
    rig.run(200)
    expect(rig.received(b).every(({ at }) => at % 20 === 5)).toBe(true)
  })

  it("are not passed on under the payload type of another codec that is agreed meanwhile", () => {
    const rig = forwarding("PCMU")
    rig.forget()
    rig.run(200)
    rig.connect(b, { codec: "PCMA", audio: { send: 8, receive: 8 } })
    rig.peers.a.deliver(rig.peers.a.make())
    const law = Codecs.table.PCMA.decoder()
    const frame = new Int16Array(160)
    rig.run(200)
    const sounds = rig
      .received(b)
      .filter(({ payloadType }) => payloadType === 8)
      .flatMap(({ payload }) => [...frame.subarray(0, law.decode(payload, frame))])
    expect(sounds.length).toBeGreaterThan(1000)
    expect(Math.max(...sounds)).toBeLessThan(10_000)
  })

  it("send nothing to a peer that holds, and go on behind it in the same stream", () => {
    const rig = forwarding("PCMU")
    rig.forget()
    rig.run(200)
    rig.connect(b, { direction: "inactive" })
    rig.run(25)
    const before = rig.received(b).length
    rig.run(400)
    expect(rig.received(b).length).toBe(before)
    rig.connect(b)
    rig.run(400)
    const received = rig.received(b)
    expect(received.length).toBeGreaterThan(before + 15)
    received.forEach(({ sequenceNumber }, i) =>
      expect((sequenceNumber - (received[0]?.sequenceNumber ?? 0)) & 0xffff).toBe(i)
    )
    expect(quietest(ForwardRig.soundOf(received.slice(-10), rig.codec), 8000)).toBeGreaterThan(-24)
  })

  const Act = Schema.Literals(["play", "stop", "dtmf", "capture", "drop", "unbridge", "bridge", "ring"])
  it.prop(
    "whatever is done to them: each peer decodes one continuous stream",
    [Schema.Array(Schema.Tuple([Act, Schema.Literals(["a", "b"]), Schema.Literals([3, 17, 60, 140, 410])]))],
    ([acts]) => {
      const rig = ForwardRig.make("L16")
      rig.run(300)
      rig.bridge()
      rig.run(300)
      rig.forget()
      acts.slice(0, 12).forEach(([act, side, ms], i) => {
        const leg = Ids.leg(side)
        const id = Ids.work(`w${i}`)
        if (act === "play") play(rig, leg, 90)
        if (act === "stop") rig.bench.handle({ type: "media", leg, media: Media.stopPlayback })
        if (act === "dtmf") rig.bench.handle({ type: "media", leg, media: Media.dtmf(id, "1", 60) })
        if (act === "unbridge") rig.bench.handle({ type: "unbridge", leg })
        if (act === "bridge") rig.bridge()
        if (act === "ring") rig.bench.handle({ type: "media", leg, media: { type: "ringback", isOn: true } })
        if (act === "drop") rig.bench.handle({ type: "capture_stop", leg, id: Ids.work(`w${i - 1}`) })
        if (act === "capture")
          rig.bench.handle({
            type: "capture",
            leg,
            id,
            wanted: {
              tracks: ["inbound"],
              chunkMs: 20,
              mostRate: 48_000,
              mostWaiting: 1000,
              beeps: { atStart: false, everyMs: null }
            }
          })
        rig.run(ms)
      })
      for (const leg of [a, b]) {
        const received = rig.received(leg)
        received.forEach(({ sequenceNumber, ssrc }, i) => {
          expect((sequenceNumber - (received[0]?.sequenceNumber ?? 0)) & 0xffff).toBe(i)
          expect(ssrc).toBe(received[0]?.ssrc)
        })
        const sound = received.filter(({ payloadType }) => payloadType !== 101)
        const events = received.length - sound.length
        const end = sound.at(-1)
        const units = ((end?.timestamp ?? 0) - (sound[0]?.timestamp ?? 0)) >>> 0
        // Timestamps cover the sound and the events, no more and no less.
        expect(units / 320).toBeLessThanOrEqual(sound.length + events)
        expect(units / 320).toBeGreaterThanOrEqual(sound.length - 1)
        if (events === 0) {
          expectContinuous(sound, 320)
          // A leg that leaves a bridge reads a frame early, which may have to be concealed.
          const isWhole = acts.every(([act]) => act !== "unbridge")
          if (isWhole) expect(Click.largest(ForwardRig.soundOf(sound, rig.codec))).toBeLessThan(1500)
        }
      }
    },
    { arbitrary: { runs: 40 } }
  )
})
