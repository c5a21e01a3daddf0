import { describe, expect, it } from "@effect/vitest"
import * as FastPath from "../../../src/media/rtp/FastPath.ts"
import type { Onward, PacketSink } from "../../../src/media/rtp/PacketSink.ts"
import * as RtpPacket from "../../../src/rtp/RtpPacket.ts"
import * as RtpSample from "../../rtp/RtpSample.ts"
import * as ForwardRig from "../ForwardRig.ts"

const from = { address: "192.0.2.7", port: 9000 }
const first = { payloadType: 0, marker: false, sequenceNumber: 65_530, timestamp: 0xffff_ff00, ssrc: 0xdead_beef }
const payload = (octet: number) => new Uint8Array(160).fill(octet)

/** The packet so many behind the first. */
const sample = (n: number, change: Partial<RtpSample.Sample> = {}) =>
  RtpSample.write({
    ...first,
    sequenceNumber: (first.sequenceNumber + n) & 0xffff,
    timestamp: (first.timestamp + 160 * n) >>> 0,
    payload: payload(n),
    ...change
  })

const setup = () => {
  const sent: Array<RtpSample.Parsed> = []
  const booked: Array<readonly [packet: RtpSample.Parsed, at: number]> = []
  const passed: Array<readonly [number: number, end: number, octets: number]> = []
  let followed: readonly [packets: number, timestamp: number, at: number] | null = null
  const onward: Onward = {
    isValid: true,
    payloadType: 8,
    ssrc: 0xcafe_f00d | 0,
    numberOffset: 100,
    timestampOffset: 5000,
    give: (bytes) => void sent.push(RtpSample.parse(bytes)),
    passed: (...args) => void passed.push(args)
  }
  const sink: PacketSink = {
    begin: () => true,
    takesEvent: () => true,
    pass: () => undefined,
    onward: () => onward,
    followed: (...args) => {
      followed = args
    },
    end: () => undefined
  }
  const path = FastPath.make((datagram, at) => void booked.push([RtpSample.parse(datagram.slice()), at]))
  const packet = RtpPacket.reader()(sample(0))
  if (typeof packet === "string") throw new Error(packet)
  const begin = () => path.begin(sink, { packet, duration: 160, clockRate: 8000, durationOf: null, from }, 1000)
  begin()
  return { path, onward, sent, booked, passed, followed: () => followed }
}

describe("The fast path", () => {
  it("sends what follows on with its new header, and books it as it came", () => {
    const { booked, followed, passed, path, sent } = setup()
    for (let n = 1; n <= 9; n++) expect(path.take(sample(n), { ...from }, 1000 + 20 * n)).toBe(true)
    expect(sent.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
      Array.from({ length: 9 }, (_, i) => (65_530 + 101 + i) & 0xffff)
    )
    expect(sent.map(({ timestamp }) => timestamp)).toEqual(
      Array.from({ length: 9 }, (_, i) => (0xffff_ff00 + 5000 + 160 * (i + 1)) >>> 0)
    )
    expect(sent.every(({ payloadType, ssrc }) => payloadType === 8 && ssrc === 0xcafe_f00d)).toBe(true)
    expect(sent.map((one) => one.payload[159])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(passed.at(-1)).toEqual([(65_530 + 109) & 0xffff, (0xffff_ff00 + 5000 + 1600) >>> 0, 160])
    expect(path.heardAt()).toBe(1180)
    expect(booked).toEqual([])
    path.settle()
    expect(
      booked.map(([{ payload, sequenceNumber, timestamp }, at]) => [sequenceNumber, timestamp, payload[0], at])
    ).toEqual(
      Array.from({ length: 9 }, (_, i) => [
        (65_531 + i) & 0xffff,
        (0xffff_ff00 + 160 * (i + 1)) >>> 0,
        i + 1,
        1020 + 20 * i
      ])
    )
    expect(followed()).toEqual([9, (0xffff_ff00 + 160 * 9) >>> 0, 1180])
    expect(path.heardAt()).toBe(Number.NEGATIVE_INFINITY)
    expect(path.take(sample(10), from, 1200)).toBe(false)
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

  it("ends with its peer's, after 32 packets, and where more sound comes than time passes", () => {
    const moved = setup()
    expect(moved.path.take(sample(1), from, 1020)).toBe(true)
    moved.onward.isValid = false
    expect(moved.path.take(sample(2), from, 1040)).toBe(false)
    const long = setup()
    let n = 1
    while (long.path.take(sample(n), from, 1000 + 20 * n)) n++
    expect(n).toBe(33)
    const flood = setup()
    n = 1
    while (flood.path.take(sample(n), from, 1001)) n++
    expect(n).toBe(7)
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
    // It goes on to send from where it was, and is believed there with its third packet.
    expect(ports).toEqual([9200, 9200, 9200, 9100, 9100])
  })
})
