import { describe, expect, it } from "@effect/vitest"
import * as FastPath from "../../../src/media/rtp/FastPath.ts"
import type { Followed, Onward, PacketSink } from "../../../src/media/rtp/PacketSink.ts"
import * as RecentPackets from "../../../src/protocol/rtp/RecentPackets.ts"
import * as RtpPacket from "../../../src/protocol/rtp/RtpPacket.ts"
import * as RtpSample from "../../protocol/rtp/RtpSample.ts"
import * as ForwardRig from "../support/ForwardRig.ts"

const from = { address: "192.0.2.7", port: 9000 }
const first = { payloadType: 0, marker: false, sequenceNumber: 65_530, timestamp: 0xffff_ff00, ssrc: 0xdead_beef }
const payload = (octet: number) => new Uint8Array(160).fill(octet)

/** The packet `n` after the first. */
const sample = (n: number, change: Partial<RtpSample.Sample> = {}) =>
  RtpSample.write({
    ...first,
    sequenceNumber: (first.sequenceNumber + n) & 0xffff,
    timestamp: (first.timestamp + 160 * n) >>> 0,
    payload: payload(n),
    ...change
  })

const setup = (isCounted: (number: number) => boolean = () => true) => {
  const sent: Array<RtpSample.Parsed> = []
  const booked: Array<readonly [number: number, timestamp: number, duration: number, at: number]> = []
  const followed: Array<Followed> = []
  const recent = RecentPackets.make()
  let settleSource = (): void => undefined
  const onward: Onward = {
    payloadType: 8,
    ssrc: 0xcafe_f00d,
    numberOffset: 100,
    timestampOffset: 5000,
    give: (bytes) => void sent.push(RtpSample.parse(bytes))
  }
  const sink: PacketSink = {
    start: () => true,
    takesEvent: () => true,
    pass: () => undefined,
    onward: (_, settle) => {
      settleSource = settle
      return onward
    },
    followed: (packets) => void followed.push(packets),
    end: () => undefined
  }
  const path = FastPath.make(recent, ({ sequenceNumber, timestamp }, duration, at) => {
    booked.push([sequenceNumber, timestamp, duration, at])
    return isCounted(sequenceNumber)
  })
  const packet = RtpPacket.reader()(sample(0))
  if (typeof packet === "string") throw new Error(packet)
  path.start(sink, { packet, duration: 160, clockRate: 8000, durationOf: null, from }, 1000)
  return { path, sent, booked, recent, followed, settleSource: () => settleSource() }
}

/** The booking of the packet `n` after the first, which came after 20 ms for each. */
const entry = (n: number) => [(65_530 + n) & 0xffff, (0xffff_ff00 + 160 * n) >>> 0, 160, 1000 + 20 * n]

describe("The fast path", () => {
  it("sends what follows on with its new header, keeps it as it came, and books it before anybody asks", () => {
    const { booked, followed, path, recent, sent } = setup()
    for (let n = 1; n <= 9; n++) expect(path.take(sample(n), { ...from }, 1000 + 20 * n)).toBe(true)
    expect(sent.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
      Array.from({ length: 9 }, (_, i) => (65_530 + 101 + i) & 0xffff)
    )
    expect(sent.map(({ timestamp }) => timestamp)).toEqual(
      Array.from({ length: 9 }, (_, i) => (0xffff_ff00 + 5000 + 160 * (i + 1)) >>> 0)
    )
    expect(sent.every(({ payloadType, ssrc }) => payloadType === 8 && ssrc === 0xcafe_f00d)).toBe(true)
    expect(sent.map((one) => one.payload[159])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(recent.ordered().map(({ bytes }) => bytes)).toEqual(Array.from({ length: 9 }, (_, i) => sample(i + 1)))
    expect(path.heardAt()).toBe(1180)
    expect(booked).toEqual([])
    path.settle()
    expect(booked).toEqual(Array.from({ length: 9 }, (_, i) => entry(i + 1)))
    expect(followed).toEqual([
      { packets: 9, timestamp: (0xffff_ff00 + 160 * 9) >>> 0, at: 1180, duration: 160, octets: 1440 }
    ])
    expect(path.take(sample(10), from, 1200)).toBe(false)
    path.settle()
    expect(booked.length).toBe(9)
  })

  it.each([
    ["of another number", sample(2), from],
    ["of another timestamp", sample(1, { timestamp: 5 }), from],
    ["of another source", sample(1, { ssrc: 5 }), from],
    ["of another payload type", sample(1, { payloadType: 101 }), from],
    ["that is marked", sample(1, { marker: true }), from],
    ["of another length", sample(1, { payload: new Uint8Array(80) }), from],
    ["from another port", sample(1), { ...from, port: 9001 }],
    ["from another host", sample(1), { ...from, address: "192.0.2.8" }],
    ["that is cut short", sample(1).subarray(0, 11), from],
    ["with an extension", Uint8Array.from(sample(1), (octet, i) => (i === 0 ? 0x90 : octet)), from]
  ])("leaves a datagram %s as it is", (_, datagram, source) => {
    const { path, sent } = setup()
    const before = datagram.slice()
    expect(path.take(datagram, source, 1020)).toBe(false)
    expect(datagram).toEqual(before)
    expect(sent).toEqual([])
    expect(path.take(sample(1), from, 1020)).toBe(true)
  })

  it("goes on for as long as packets follow, and books 32 at once with the moments at which they came", () => {
    const { booked, followed, path } = setup()
    const came = (n: number) => 1000 + 20 * n + (n % 7) * 0.125
    for (let n = 1; n <= 100; n++) expect(path.take(sample(n), from, came(n))).toBe(true)
    expect(followed.map(({ packets }) => packets)).toEqual([32, 32, 32])
    expect(booked.map(([number]) => number)).toEqual(Array.from({ length: 96 }, (_, i) => (65_531 + i) & 0xffff))
    expect(booked.map(([, , , at]) => at)).toEqual(Array.from({ length: 96 }, (_, i) => came(i + 1)))
  })

  it("ends where its peer's ends, where more sound comes than time passes, and where a packet counts for nothing", () => {
    const moved = setup()
    expect(moved.path.take(sample(1), from, 1020)).toBe(true)
    moved.settleSource()
    expect(moved.booked).toEqual([entry(1)])
    expect(moved.path.take(sample(2), from, 1040)).toBe(false)
    const flood = setup()
    let n = 1
    while (flood.path.take(sample(n), from, 1001)) n++
    expect(n).toBe(7)
    const refused = setup((number) => number !== 2)
    n = 1
    while (refused.path.take(sample(n), from, 1000 + 20 * n)) n++
    expect(n).toBe(33)
    expect(refused.booked.length).toBe(32)
  })

  it("follows a peer that moves with its next packet", () => {
    const rig = ForwardRig.make("PCMU")
    rig.run(400)
    rig.bridge()
    rig.run(500)
    rig.connect(ForwardRig.b, { port: 9200 })
    const before = rig.bench.network.sent.length
    rig.run(100)
    const from = rig.bench.portOf(ForwardRig.b)
    const ports = rig.bench.network.sent
      .slice(before)
      .filter((one) => one.from.port === from)
      .map(({ to }) => to.port)
    // The peer still sends from its former port, and is accepted there with its third packet.
    expect(ports).toEqual([9200, 9200, 9200, 9100, 9100])
  })
})
