import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as G711 from "../../../src/protocol/audio/codec/G711.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import type { LegId, WorkId } from "../../../src/domain/Id.ts"
import type * as Protocol from "../../../src/media/plane/Protocol.ts"
import type * as Rtcp from "../../../src/protocol/rtp/rtcp/Rtcp.ts"
import * as RtcpWriter from "../../../src/protocol/rtp/rtcp/RtcpWriter.ts"
import * as RtcpParser from "../../../src/protocol/rtp/rtcp/RtcpParser.ts"
import { hostile, random } from "../../protocol/rtp/RandomBytes.ts"
import * as RtpSample from "../../protocol/rtp/RtpSample.ts"
import * as Ids from "../../support/Ids.ts"
import * as Media from "../support/MediaSample.ts"
import * as MemoryNetwork from "../support/MemoryNetwork.ts"
import * as SwitchBench from "../SwitchBench.ts"

type Bench = ReturnType<typeof SwitchBench.make>

const packetsOf = (bench: Bench, leg: LegId): Array<RtpSample.Parsed> =>
  bench.network.sent
    .filter(({ channel, from }) => channel === "rtp" && from.port === bench.portOf(leg))
    .map(({ bytes }) => RtpSample.parse(bytes))
const reportsOf = (bench: Bench, leg: LegId): Array<ReadonlyArray<Rtcp.RtcpPacket>> =>
  bench.network.sent
    .filter(({ channel, from }) => channel === "rtcp" && from.port === bench.portOf(leg) + 1)
    .map(({ bytes }) => Result.getOrThrow(RtcpParser.parse(bytes)))
const soundOf = (packets: ReadonlyArray<RtpSample.Parsed>, law: G711.Law = "PCMU") =>
  Int16Array.from(packets.flatMap(({ payload }) => [...G711.decode(law, payload)]))
const play = (bench: Bench, leg: LegId, id: WorkId, samples: Int16Array, loop = 1) => {
  bench.handle({ type: "media", leg, media: Media.play(id, "https://a/", loop) })
  bench.handle({ type: "supply", leg, id, sound: { rate: 8000, samples }, isLast: true })
}

describe("The switch, towards RTP peers", () => {
  it("sends nothing before it is connected, then a packet every 20 ms of running sequence and timestamp", () => {
    const bench = SwitchBench.make()
    bench.handle({ type: "open_rtp", leg: Ids.leg("a") })
    bench.run(200)
    expect(packetsOf(bench, Ids.leg("a"))).toStrictEqual([])
    bench.handle({ type: "connect_rtp", leg: Ids.leg("a"), remote: bench.remote(9000) })
    bench.run(1000)
    const packets = packetsOf(bench, Ids.leg("a"))
    expect(packets.length).toBe(50)
    const [first] = packets
    expect(first?.marker).toBe(true)
    packets.forEach((packet, i) => {
      expect(packet.sequenceNumber).toBe(((first?.sequenceNumber ?? 0) + i) & 0xffff)
      expect(packet.timestamp).toBe(((first?.timestamp ?? 0) + i * 160) >>> 0)
      expect(packet.payload.length).toBe(160)
    })
    expect(packets.slice(1).every(({ marker }) => !marker)).toBe(true)
  })

  it.each([
    ["PCMU", 0],
    ["PCMA", 8]
  ] as const)("carries a tone from leg to leg in %s, right in frequency and level", (codec, payloadType) => {
    const bench = SwitchBench.pair({}, undefined, {
      codec,
      audio: { send: payloadType, receive: payloadType }
    })
    play(bench, Ids.leg("a"), Ids.work("p"), Tone.sine(440, -12, 1000, 8000))
    bench.run(500)
    const sound = soundOf(packetsOf(bench, Ids.leg("a")).slice(5, 20), codec)
    expect(Goertzel.level(sound, 440, 8000)).closeTo(-12, 0.2)
    expect(Goertzel.totalLevel(sound)).closeTo(-12, 0.2)
  })

  it("spreads legs over the 20 ms, one to each slot", () => {
    const bench = SwitchBench.make()
    for (let i = 0; i < 20; i++) {
      bench.handle({ type: "open_rtp", leg: Ids.leg(`l${i}`) })
      bench.handle({ type: "connect_rtp", leg: Ids.leg(`l${i}`), remote: bench.remote(9000) })
    }
    const counts: Array<number> = []
    let before = 0
    bench.run(40, () => {
      counts.push(bench.network.sent.length - before)
      before = bench.network.sent.length
    })
    expect(counts.every((count) => count === 1)).toBe(true)
  })

  it("sends digits as events in place of the sound, each heard once, and plays on behind them", () => {
    const bench = SwitchBench.pair()
    play(bench, Ids.leg("a"), Ids.work("p"), Tone.sine(440, -12, 400, 8000))
    bench.run(100)
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.dtmf(Ids.work("d"), "159#") })
    bench.run(2000)
    expect(bench.digitsOf(Ids.leg("b"))).toBe("159#")
    expect(bench.mediaOf(Ids.leg("a"))).toStrictEqual([Media.completed(Ids.work("d")), Media.completed(Ids.work("p"))])
    const events = packetsOf(bench, Ids.leg("a")).filter(({ payloadType }) => payloadType === 101)
    expect(events.length).toBe(4 * 7)
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(4)
    const packets = packetsOf(bench, Ids.leg("a"))
    const behind = packets.filter(({ payloadType }, i) => payloadType === 0 && packets[i - 1]?.payloadType === 101)
    expect(behind.length === 4 && behind.every(({ marker }) => marker)).toBe(true)
    // The digits cost none of the sound: 5 ms are faded out before them, the other 395 ms follow.
    const sound = packetsOf(bench, Ids.leg("a")).filter(
      ({ payload, payloadType }) => payloadType === 0 && payload.some((octet) => octet !== 0xff)
    )
    expect(sound.length).toBe(1 + 20)
  })

  it("sends events under the number that the peer gave them, and understands them under its own", () => {
    const bench = SwitchBench.pair()
    const connect = (leg: string, peer: string, send: number, receive: number) =>
      bench.handle({
        type: "connect_rtp",
        leg: Ids.leg(leg),
        remote: bench.remote(bench.portOf(Ids.leg(peer)), { telephoneEvent: { send, receive, clockRate: 8000 } })
      })
    connect("a", "b", 96, 101)
    connect("b", "a", 101, 96)
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.dtmf(Ids.work("d"), "12") })
    bench.handle({ type: "media", leg: Ids.leg("b"), media: Media.dtmf(Ids.work("d"), "34") })
    bench.run(1000)
    expect(bench.digitsOf(Ids.leg("b"))).toBe("12")
    expect(bench.digitsOf(Ids.leg("a"))).toBe("34")
    const sent = (leg: string) => new Set(packetsOf(bench, Ids.leg(leg)).map(({ payloadType }) => payloadType))
    expect(sent("a")).toStrictEqual(new Set([0, 96]))
    expect(sent("b")).toStrictEqual(new Set([0, 101]))
  })

  it("understands a peer that uses the numbers of its own description in both directions", () => {
    const bench = SwitchBench.pair()
    const remote = bench.remote(bench.portOf(Ids.leg("b")), {
      telephoneEvent: { send: 96, receive: 101, clockRate: 8000 }
    })
    bench.handle({ type: "connect_rtp", leg: Ids.leg("a"), remote })
    const same = bench.remote(bench.portOf(Ids.leg("a")), {
      telephoneEvent: { send: 96, receive: 96, clockRate: 8000 }
    })
    bench.handle({ type: "connect_rtp", leg: Ids.leg("b"), remote: same })
    bench.handle({ type: "media", leg: Ids.leg("b"), media: Media.dtmf(Ids.work("d"), "5") })
    bench.run(500)
    expect(bench.digitsOf(Ids.leg("a"))).toBe("5")
  })

  it("pauses for half a second at each w, and for a second at each W", () => {
    const bench = SwitchBench.pair()
    bench.run(100)
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.dtmf(Ids.work("d"), "12w3Ww4w") })
    const heardAt: Array<number> = []
    bench.run(4000, (now) => {
      if (bench.digitsOf(Ids.leg("b")).length > heardAt.length) heardAt.push(now)
    })
    expect(bench.digitsOf(Ids.leg("b"))).toBe("1234")
    const apart = heardAt.slice(1).map((at, index) => at - (heardAt[index] ?? 0))
    const digit = apart[0] ?? 0
    expect(apart).toStrictEqual([digit, digit + 500, digit + 1500])
    expect(bench.mediaOf(Ids.leg("a"))).toStrictEqual([Media.completed(Ids.work("d"))])
  })

  it("sends digits as tones when the peer takes no events", () => {
    const bench = SwitchBench.pair({}, undefined, { telephoneEvent: null })
    bench.run(100)
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.dtmf(Ids.work("d"), "5") })
    bench.run(400)
    const sound = soundOf(packetsOf(bench, Ids.leg("a")).slice(5, 10))
    expect(Goertzel.level(sound, 770, 8000)).closeTo(-11, 1)
    expect(Goertzel.level(sound, 1336, 8000)).closeTo(-9, 1)
  })

  it("neither sends nor listens more than the direction says, and keeps the timeline over a hold", () => {
    const bench = SwitchBench.pair({ mediaTimeoutMs: 500 })
    bench.run(200)
    const before = packetsOf(bench, Ids.leg("a")).at(-1)
    bench.handle({
      type: "connect_rtp",
      leg: Ids.leg("a"),
      remote: bench.remote(bench.portOf(Ids.leg("b")), { direction: "inactive" })
    })
    const count = packetsOf(bench, Ids.leg("a")).length
    bench.run(1000)
    expect(packetsOf(bench, Ids.leg("a")).length).toBe(count)
    expect(bench.lossesOf(Ids.leg("a"))).toStrictEqual([])
    bench.handle({ type: "connect_rtp", leg: Ids.leg("a"), remote: bench.remote(bench.portOf(Ids.leg("b"))) })
    bench.run(20)
    const after = packetsOf(bench, Ids.leg("a")).at(-1)
    expect(((after?.sequenceNumber ?? 0) - (before?.sequenceNumber ?? 0)) & 0xffff).toBe(1)
    expect(((after?.timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0).toBe(51 * 160)
    expect(after?.marker).toBe(true)
  })

  it("sends no digit later that was pressed while it may not send, nor the rest of one that a hold cut off", () => {
    const bench = SwitchBench.pair()
    const [a, b] = [Ids.leg("a"), Ids.leg("b")]
    const direct = (direction: "sendrecv" | "inactive") =>
      bench.handle({ type: "connect_rtp", leg: a, remote: bench.remote(bench.portOf(b), { direction }) })
    bench.run(200)
    bench.handle({ type: "media", leg: a, media: Media.dtmf(Ids.work("cut"), "1", 1000) })
    bench.run(200)
    direct("inactive")
    bench.run(3000)
    bench.handle({ type: "media", leg: a, media: Media.dtmf(Ids.work("held"), "23") })
    bench.run(3000)
    const count = packetsOf(bench, a).length
    direct("sendrecv")
    bench.run(1000)
    expect(
      packetsOf(bench, a)
        .slice(count)
        .every(({ payloadType }) => payloadType === 0)
    ).toBe(true)
    expect(bench.digitsOf(b)).toBe("1")
    expect(bench.mediaOf(a)).toStrictEqual([Media.completed(Ids.work("cut")), Media.completed(Ids.work("held"))])
  })

  it("a fault while a command is carried out ends its leg and no other", () => {
    const defects: Array<unknown> = []
    const network = MemoryNetwork.make()
    let opened = 0
    const bench = SwitchBench.make({
      onDefect: (error) => void defects.push(error),
      ports: {
        open: (onPacket, then) =>
          network.port.open(onPacket, (socket) => {
            const isBad = ++opened === 1
            then(
              socket === null || !isBad
                ? socket
                : {
                    ...socket,
                    close: () => {
                      throw new Error("close")
                    }
                  }
            )
          })
      },
      emit: (event) => {
        bench.events.push(event)
        if (event.type === "media" && event.event.type === "ended") throw new Error("emit")
      }
    })
    const [a, b, c] = [Ids.leg("a"), Ids.leg("b"), Ids.leg("c")]
    for (const leg of [a, b, c]) bench.handle({ type: "open_rtp", leg })
    bench.handle({ type: "close", leg: a })
    bench.handle({ type: "media", leg: b, media: Media.dtmf(Ids.work("d"), "nonsense") })
    bench.run(100)
    expect(bench.events.filter(({ type }) => type === "closed")).toStrictEqual([{ type: "closed", leg: a }])
    expect(bench.lossesOf(b)).toStrictEqual(["plane_stopped"])
    expect(bench.plane.size()).toBe(1)
    expect(defects.length).toBe(2)
  })

  it("tells a silent peer once, and again only after it was heard", () => {
    const bench = SwitchBench.make({ mediaTimeoutMs: 2000 })
    bench.handle({ type: "open_rtp", leg: Ids.leg("a") })
    bench.run(3000)
    expect(bench.lossesOf(Ids.leg("a"))).toStrictEqual([])
    bench.handle({ type: "connect_rtp", leg: Ids.leg("a"), remote: bench.remote(9000) })
    bench.run(1990)
    expect(bench.lossesOf(Ids.leg("a"))).toStrictEqual([])
    bench.run(5000)
    expect(bench.lossesOf(Ids.leg("a"))).toStrictEqual(["no_packets"])
    const packet = RtpSample.write({
      payloadType: 0,
      marker: false,
      sequenceNumber: 1,
      timestamp: 0,
      ssrc: 5,
      payload: new Uint8Array(160)
    })
    bench.network.receive({
      channel: "rtp",
      bytes: packet,
      from: { address: "127.0.0.1", port: 9000 },
      to: { address: "", port: bench.portOf(Ids.leg("a")) }
    })
    bench.run(2500)
    expect(bench.lossesOf(Ids.leg("a"))).toStrictEqual(["no_packets", "no_packets"])
  })

  it("takes no time in which it stood still for the silence of a peer", () => {
    const bench = SwitchBench.make({ mediaTimeoutMs: 5_000 })
    const leg = Ids.leg("a")
    bench.handle({ type: "open_rtp", leg })
    bench.handle({ type: "connect_rtp", leg, remote: bench.remote(9000) })
    bench.run(1_000)
    bench.stall(600_000)
    bench.run(2_900)
    expect(bench.lossesOf(leg)).toStrictEqual([])
    bench.run(200)
    expect(bench.lossesOf(leg)).toStrictEqual(["no_packets"])
  })

  it.each([20, 40, 60])(
    "counts the packets of %i ms that a peer which vanished should have sent as lost",
    (packetMs) => {
      const bench = SwitchBench.make({ mediaTimeoutMs: 60_000 })
      const leg = Ids.leg("a")
      bench.handle({ type: "open_rtp", leg })
      bench.handle({ type: "connect_rtp", leg, remote: bench.remote(9000) })
      let sent = 0
      const say = () =>
        bench.network.receive({
          channel: "rtp",
          bytes: RtpSample.write({
            payloadType: 0,
            marker: false,
            sequenceNumber: ++sent,
            timestamp: sent * 8 * packetMs,
            ssrc: 5,
            payload: new Uint8Array(8 * packetMs)
          }),
          from: { address: "127.0.0.1", port: 9000 },
          to: { address: "", port: bench.portOf(leg) }
        })
      for (let count = 0; count < 100; count++) {
        say()
        bench.run(packetMs)
      }
      // A peer may pause; only one that vanished owes packets.
      bench.run(30_000)
      expect(bench.lastQualityOf(leg)?.packetsLost).toBe(0)
      bench.run(31_000)
      expect(bench.lossesOf(leg)).toEqual(["no_packets"])
      bench.handle({ type: "close", leg })
      const { mos = null, packetsLost = 0, packetsReceived = 0 } = bench.lastQualityOf(leg) ?? {}
      expect(packetsReceived).toBe(100)
      expect(packetsLost).toBeGreaterThanOrEqual(Math.floor(60_000 / packetMs))
      expect(packetsLost).toBeLessThanOrEqual(Math.ceil(61_200 / packetMs))
      expect(mos).toBeLessThan(1.5)
    }
  )

  it("counts nothing as lost for the time of a hold", () => {
    const bench = SwitchBench.pair({ mediaTimeoutMs: 2000 })
    const [a, b] = [Ids.leg("a"), Ids.leg("b")]
    bench.run(1000)
    for (const direction of ["inactive", "sendrecv"] as const) {
      for (const [leg, peer] of [
        [a, b],
        [b, a]
      ] as const)
        bench.handle({ type: "connect_rtp", leg, remote: bench.remote(bench.portOf(peer), { direction }) })
      bench.run(5000)
    }
    bench.handle({ type: "close", leg: a })
    expect(bench.lastQualityOf(a)?.packetsLost).toBe(0)
  })

  it.each(["recvonly", "inactive", "sendonly"] as const)(
    "waits for a peer that holds (%s as we see it) without end, and from the resumption on as at first",
    (direction) => {
      const bench = SwitchBench.make({ mediaTimeoutMs: 2000 })
      const leg = Ids.leg("a")
      bench.handle({ type: "open_rtp", leg })
      bench.handle({ type: "connect_rtp", leg, remote: bench.remote(9000) })
      bench.run(1000)
      bench.handle({ type: "connect_rtp", leg, remote: bench.remote(9000, { direction }) })
      bench.run(5000)
      expect(bench.lossesOf(leg)).toEqual([])
      bench.handle({ type: "connect_rtp", leg, remote: bench.remote(9000) })
      bench.run(1900)
      expect(bench.lossesOf(leg)).toEqual([])
      bench.run(200)
      expect(bench.lossesOf(leg)).toEqual(["no_packets"])
    }
  )

  it("takes RTCP as a sign of life", () => {
    const bench = SwitchBench.make({ mediaTimeoutMs: 2000 })
    const leg = Ids.leg("a")
    bench.handle({ type: "open_rtp", leg })
    bench.handle({ type: "connect_rtp", leg, remote: bench.remote(9000) })
    const report = RtcpWriter.write([{ type: "receiver_report", ssrc: 9, reports: [] }])
    const tell = () =>
      bench.network.receive({
        channel: "rtcp",
        bytes: report,
        from: { address: "127.0.0.1", port: 9001 },
        to: { address: "", port: bench.portOf(leg) + 1 }
      })
    for (let i = 0; i < 5; i++) {
      bench.run(1500)
      tell()
    }
    expect(bench.lossesOf(leg)).toEqual([])
    bench.run(2100)
    expect(bench.lossesOf(leg)).toEqual(["no_packets"])
  })

  it("reports by RTCP what it sent and received, measures the round trip, and says BYE", () => {
    const bench = SwitchBench.pair({}, () => [25])
    bench.run(20_000)
    bench.handle({ type: "close", leg: Ids.leg("a") })
    bench.run(100)
    const reports = reportsOf(bench, Ids.leg("a"))
    expect(reports.length).toBeGreaterThanOrEqual(3)
    expect(reports.length).toBeLessThanOrEqual(8)
    const [sender, description] = reports.at(-2) ?? []
    expect.assert(sender?.type === "sender_report" && description?.type === "source_description")
    expect(sender.octetCount).toBe(sender.packetCount * 160)
    const packets = packetsOf(bench, Ids.leg("a"))
    expect(sender.ssrc).toBe(packets[0]?.ssrc)
    expect(sender.reports[0]?.ssrc).toBe(packetsOf(bench, Ids.leg("b"))[0]?.ssrc)
    expect(sender.reports[0]?.fractionLost).toBe(0)
    expect(sender.reports[0]?.lastSenderReport ?? 0).toBeGreaterThan(0)
    expect(description.chunks[0]?.items[0]?.text ?? "").toMatch(/^[0-9a-f]{24}$/)
    expect(reports.at(-1)?.map(({ type }) => type)).toStrictEqual(["sender_report", "source_description", "bye"])
    const quality = bench.lastQualityOf(Ids.leg("a"))
    expect.assert(quality !== undefined)
    expect(quality.roundTripMs ?? 0).closeTo(50, 2)
    expect(quality.packetsReceived).closeTo(998, 3)
    expect(quality.packetsLost).toBe(0)
    expect(bench.events.at(-1)).toStrictEqual({ type: "closed", leg: Ids.leg("a") })
  })

  it("reads no RTCP longer than a datagram of the usual network, however well it is formed", () => {
    const bench = SwitchBench.make({ mediaTimeoutMs: 1000 })
    const leg = Ids.leg("a")
    bench.handle({ type: "open_rtp", leg })
    bench.handle({ type: "connect_rtp", leg, remote: bench.remote(9000) })
    const bye: Rtcp.RtcpPacket = { type: "bye", sources: [], reason: null }
    const arrive = (packets: number) =>
      bench.network.receive({
        channel: "rtcp",
        bytes: RtcpWriter.write(Array.from({ length: packets }, () => bye)),
        from: { address: "127.0.0.1", port: 9001 },
        to: { address: "127.0.0.1", port: bench.portOf(leg) + 1 }
      })
    arrive(375)
    expect(bench.plane.countersOf(leg)?.malformed).toBe(0)
    arrive(376)
    expect(bench.plane.countersOf(leg)?.malformed).toBe(1)
  })

  it("learns where a peer behind address translation sends from, and sends there", () => {
    const bench = SwitchBench.pair()
    bench.handle({
      type: "connect_rtp",
      leg: Ids.leg("a"),
      remote: bench.remote(9998, { address: "10.0.0.1", signallingAddress: "127.0.0.1" })
    })
    bench.run(200)
    const last = bench.network.sent.findLast(
      ({ channel, from }) => channel === "rtp" && from.port === bench.portOf(Ids.leg("a"))
    )
    expect(last?.to).toStrictEqual({ address: "127.0.0.1", port: bench.portOf(Ids.leg("b")) })
  })

  it("sends RTCP where the translated RTCP of the host that sends RTP comes from, and hears none of strangers", () => {
    const bench = SwitchBench.make({ mediaTimeoutMs: 9000 })
    const leg = Ids.leg("a")
    bench.handle({ type: "open_rtp", leg })
    const remote = bench.remote(9998, { address: "10.0.0.1", signallingAddress: "127.0.0.1" })
    bench.handle({ type: "connect_rtp", leg, remote })
    const bye = RtcpWriter.write([{ type: "receiver_report", ssrc: 1, reports: [] }])
    const control = (address: string, port: number) =>
      bench.network.receive({
        channel: "rtcp",
        bytes: bye,
        from: { address, port },
        to: { address: "127.0.0.1", port: bench.portOf(leg) + 1 }
      })
    const sentTo = () => bench.network.sent.findLast(({ channel }) => channel === "rtcp")?.to
    const speak = (n: number) =>
      bench.network.receive({
        channel: "rtp",
        bytes: RtpSample.write({
          payloadType: 0,
          marker: false,
          sequenceNumber: n,
          timestamp: n * 160,
          ssrc: 1,
          payload: new Uint8Array(160)
        }),
        from: { address: "127.0.0.1", port: 6000 },
        to: { address: "127.0.0.1", port: bench.portOf(leg) }
      })
    for (let n = 0; n < 3; n++) speak(n)
    bench.run(8000)
    expect(sentTo()).toEqual({ address: "127.0.0.1", port: 6001 })
    control("127.0.0.1", 7123)
    control("10.0.0.1", 7999)
    control("203.0.113.9", 7666)
    bench.run(8000)
    expect(sentTo()).toEqual({ address: "127.0.0.1", port: 7123 })
    for (let i = 0; i < 20; i++) {
      control("203.0.113.9", 7666)
      bench.run(100)
    }
    expect(bench.lossesOf(leg)).toEqual(["no_packets"])
    expect(bench.plane.countersOf(leg)?.strangers).toBe(21)
  })

  it("frees the ports of a closed leg, and takes its name again", () => {
    const bench = SwitchBench.pair()
    bench.handle({ type: "close", leg: Ids.leg("a") })
    expect(bench.network.bound()).toBe(1)
    bench.handle({ type: "open_rtp", leg: Ids.leg("a") })
    bench.handle({ type: "open_rtp", leg: Ids.leg("a") })
    expect(bench.network.bound()).toBe(2)
    expect(bench.events.at(-1)).toStrictEqual({ type: "refused", leg: Ids.leg("a"), reason: "leg_exists" })
  })

  it("refuses the leg that is one too many, and the one without ports", () => {
    const bench = SwitchBench.make({ maxLegs: 1, ports: { open: (_, opened) => opened(null) } })
    bench.handle({ type: "open_rtp", leg: Ids.leg("a") })
    bench.handle({ type: "open_phone", leg: Ids.leg("b"), script: { type: "silence" } })
    bench.handle({ type: "open_phone", leg: Ids.leg("c"), script: { type: "silence" } })
    expect(bench.events).toStrictEqual([
      { type: "refused", leg: Ids.leg("a"), reason: "no_ports" },
      { type: "opened", leg: Ids.leg("b"), port: 0 },
      { type: "refused", leg: Ids.leg("c"), reason: "too_many_legs" }
    ])
  })

  it("closes what is bound for a leg that was closed meanwhile", () => {
    let finish: () => void = () => undefined
    let closed = 0
    const socket = MemoryNetwork.deaf(4000, () => closed++)
    const bench = SwitchBench.make({
      ports: {
        open: (_, opened) => {
          finish = () => opened(socket)
        }
      }
    })
    bench.handle({ type: "open_rtp", leg: Ids.leg("a") })
    bench.handle({ type: "close", leg: Ids.leg("a") })
    finish()
    expect(closed).toBe(1)
    expect(bench.events).toStrictEqual([{ type: "closed", leg: Ids.leg("a") }])
  })

  it("answers commands for an unknown leg with failures", () => {
    const bench = SwitchBench.make()
    bench.handle({ type: "media", leg: Ids.leg("x"), media: Media.play(Ids.work("p"), "https://a/") })
    bench.handle({ type: "media", leg: Ids.leg("x"), media: Media.dtmf(Ids.work("d"), "1") })
    bench.handle({ type: "media", leg: Ids.leg("x"), media: Media.stopPlayback })
    bench.handle({ type: "connect_rtp", leg: Ids.leg("x"), remote: bench.remote(1) })
    bench.handle({ type: "close", leg: Ids.leg("x") })
    expect(bench.mediaOf(Ids.leg("x"))).toStrictEqual([
      Media.failed(Ids.work("p"), "unknown_leg"),
      Media.failed(Ids.work("d"), "unknown_leg")
    ])
    expect(bench.events.at(-1)).toStrictEqual({ type: "closed", leg: Ids.leg("x") })
  })

  it("refuses digits that are none, and ends what waits when the leg closes", () => {
    const bench = SwitchBench.pair()
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.dtmf(Ids.work("bad"), "12x") })
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.dtmf(Ids.work("none"), "") })
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.dtmf(Ids.work("long"), "111", 500) })
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.play(Ids.work("p"), "https://a/") })
    bench.run(100)
    bench.handle({ type: "close", leg: Ids.leg("a") })
    expect(bench.mediaOf(Ids.leg("a"))).toStrictEqual([
      Media.failed(Ids.work("bad"), "invalid_digits"),
      Media.failed(Ids.work("none"), "invalid_digits"),
      Media.stopped(Ids.work("p")),
      Media.failed(Ids.work("long"), "closed")
    ])
  })

  it("catches up a short stall in a burst, and skips a long one with the timestamp going on", () => {
    const bench = SwitchBench.pair()
    bench.run(100)
    bench.stall(60)
    bench.run(20)
    const count = packetsOf(bench, Ids.leg("a")).length
    expect(count).toBe(9)
    const before = packetsOf(bench, Ids.leg("a")).at(-1)
    bench.stall(1000)
    bench.run(20)
    expect(packetsOf(bench, Ids.leg("a")).length).toBeLessThanOrEqual(count + 2)
    const after = packetsOf(bench, Ids.leg("a")).at(-1)
    expect(((after?.timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0).closeTo(51 * 160, 160)
    expect(bench.plane.skippedFrames()).toBeGreaterThan(45)
  })

  it("survives 10,000 hostile datagrams on both ports, and the peer is heard as before", () => {
    const bench = SwitchBench.pair()
    bench.run(200)
    const samples = bench.network.sent.map(({ bytes }) => bytes).slice(0, 20)
    const peer = { address: "127.0.0.1", port: bench.portOf(Ids.leg("b")) }
    const next = random(21)
    let i = 0
    for (const bytes of hostile(10_000, 20, samples)) {
      const channel = next() < 0.5 ? "rtp" : "rtcp"
      const from = next() < 0.5 ? peer : { address: "127.0.0.1", port: 7 }
      bench.network.receive({
        channel,
        bytes,
        from,
        to: { address: "", port: bench.portOf(Ids.leg("a")) + (channel === "rtcp" ? 1 : 0) }
      })
      if (i++ % 100 === 0) bench.run(20)
    }
    const counters = bench.plane.countersOf(Ids.leg("a"))
    expect(counters?.strangers ?? 0).toBeGreaterThan(1000)
    expect(counters?.malformed ?? 0).toBeGreaterThan(1000)
    bench.run(1000)
    bench.handle({ type: "media", leg: Ids.leg("b"), media: Media.dtmf(Ids.work("d"), "42") })
    const heard = bench.digitsOf(Ids.leg("a")).length
    bench.run(1000)
    expect(bench.digitsOf(Ids.leg("a")).slice(heard)).toBe("42")
  })

  it("hears every digit once and the tone at its level through loss, jitter, duplication and reordering", () => {
    const next = random(31)
    const bench = SwitchBench.pair({}, ({ channel }) => {
      if (channel === "rtp" && next() < 0.03) return []
      const delay = 20 + next() * 35
      return next() < 0.02 ? [delay, delay + next() * 30] : [delay]
    })
    bench.run(500)
    bench.handle({ type: "media", leg: Ids.leg("a"), media: Media.dtmf(Ids.work("d"), "1122334455") })
    bench.run(4000)
    expect(bench.digitsOf(Ids.leg("b"))).toBe("1122334455")
    play(bench, Ids.leg("a"), Ids.work("p"), Tone.sine(500, -10, 10_000, 8000))
    bench.run(9000)
    const counters = bench.plane.countersOf(Ids.leg("b"))
    expect(counters?.late ?? 0).toBeLessThan(30)
    bench.handle({ type: "close", leg: Ids.leg("b") })
    const quality = bench.lastQualityOf(Ids.leg("b"))
    expect.assert(quality !== undefined)
    expect(quality.packetsLost / (quality.packetsLost + quality.packetsReceived)).closeTo(0.03, 0.02)
    expect(quality.jitterMs).closeTo(12, 6)
    expect(quality.jitterMeanMs).closeTo(12, 3)
    expect(quality.jitterMaxMs).toBeGreaterThanOrEqual(quality.jitterMs)
    // The peer has reported every 5 s in the middle.
    const { reported } = bench.lastQualityOf(Ids.leg("a")) ?? {}
    expect(reported?.jitterMeanMs).closeTo(12, 4)
    expect(reported?.jitterMaxMs).toBeGreaterThanOrEqual(reported?.jitterMeanMs ?? Infinity)
    // Losses of 3 %, with concealment.
    expect(quality.mos).closeTo(4.05, 0.2)
  })
})

describe("The switch, towards simulated phones", () => {
  const phone = (script: Protocol.Command & { readonly type: "open_phone" }) => {
    const bench = SwitchBench.make()
    bench.handle(script)
    return bench
  }

  it("hears 1234# after 2 s and every 5 s", () => {
    const script = { type: "press", digits: "1234#", afterMs: 2000, everyMs: 5000 } as const
    const bench = phone({ type: "open_phone", leg: Ids.leg("p"), script })
    bench.run(1980)
    expect(bench.digitsOf(Ids.leg("p"))).toBe("")
    bench.run(1100)
    expect(bench.digitsOf(Ids.leg("p"))).toBe("1234#")
    bench.run(3900)
    expect(bench.digitsOf(Ids.leg("p"))).toBe("1234#")
    bench.run(5000)
    expect(bench.digitsOf(Ids.leg("p"))).toBe("1234#1234#")
    const first = bench.mediaOf(Ids.leg("p"))[0]
    expect.assert(first?.type === "dtmf")
    expect(first.at).closeTo(3000, 40)
  })

  it("plays to it and sends it digits, which an echo presses back", () => {
    const bench = phone({ type: "open_phone", leg: Ids.leg("p"), script: { type: "echo" } })
    play(bench, Ids.leg("p"), Ids.work("s"), Tone.sine(440, -12, 100, 8000), 2)
    bench.handle({ type: "media", leg: Ids.leg("p"), media: Media.dtmf(Ids.work("d"), "12") })
    bench.run(1000)
    expect(bench.digitsOf(Ids.leg("p"))).toBe("12")
    const others = bench.mediaOf(Ids.leg("p")).filter(({ type }) => type !== "dtmf")
    expect(others).toStrictEqual([Media.completed(Ids.work("d")), Media.completed(Ids.work("s"))])
  })
})

describe("The switch, between joined legs", () => {
  const joined = () => {
    const bench = SwitchBench.make()
    bench.handle({ type: "open_joined", leg: Ids.leg("a"), peer: Ids.leg("b") })
    return bench
  }

  it("a playback waits until both are open, and digits cross", () => {
    const bench = joined()
    play(bench, Ids.leg("a"), Ids.work("s"), Tone.sine(440, -12, 100, 8000))
    bench.run(500)
    expect(bench.mediaOf(Ids.leg("a"))).toStrictEqual([])
    bench.handle({ type: "open_joined", leg: Ids.leg("b"), peer: Ids.leg("a") })
    bench.handle({ type: "media", leg: Ids.leg("b"), media: Media.dtmf(Ids.work("d"), "7#") })
    bench.run(1000)
    const played = bench.mediaOf(Ids.leg("a")).filter(({ type }) => type !== "dtmf")
    expect(played).toStrictEqual([Media.completed(Ids.work("s"))])
    expect(bench.digitsOf(Ids.leg("a"))).toBe("7#")
    expect(bench.mediaOf(Ids.leg("b"))).toStrictEqual([Media.completed(Ids.work("d"))])
  })

  it("a leg whose other end is gone, or wants another, is left in silence", () => {
    const bench = joined()
    bench.handle({ type: "open_joined", leg: Ids.leg("b"), peer: Ids.leg("c") })
    bench.handle({ type: "media", leg: Ids.leg("b"), media: Media.dtmf(Ids.work("d"), "1") })
    bench.run(500)
    bench.handle({ type: "close", leg: Ids.leg("b") })
    bench.handle({ type: "open_joined", leg: Ids.leg("b"), peer: Ids.leg("a") })
    bench.handle({ type: "close", leg: Ids.leg("b") })
    play(bench, Ids.leg("a"), Ids.work("s"), Tone.sine(440, -12, 100, 8000))
    bench.run(500)
    expect(bench.mediaOf(Ids.leg("a"))).toStrictEqual([])
    expect(bench.plane.size()).toBe(1)
  })
})
