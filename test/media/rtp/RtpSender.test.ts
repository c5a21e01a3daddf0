import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Frame from "../../../src/media/Frame.ts"
import * as RtpSender from "../../../src/media/rtp/RtpSender.ts"
import * as RtpSample from "../../protocol/rtp/RtpSample.ts"

const events = { send: 101, receive: 101, clockRate: 8000 }
const encoding = (codec: Codecs.CodecName, ptimeMs: number): RtpSender.Encoding => {
  const type = Codecs.table[codec].payloadType ?? 97
  return { codec, fmtp: null, audio: { send: type, receive: type }, telephoneEvent: events, ptimeMs }
}
const sender = () => RtpSender.make({ ssrc: 1, sequenceNumber: 0xfffe, timestamp: 0xffff_ff00 })

/** The packets that each frame of a tone completes. */
const sent = (by: RtpSender.RtpSender, to: RtpSender.Encoding, frames: number, from = 0) => {
  const rate = Codecs.table[to.codec].sampleRate
  const sound = Tone.sine(440, -12, 20 * (from + frames), rate)
  const frame = Frame.make(rate)
  return Array.from({ length: frames }, (_, i) => {
    frame.samples.set(sound.subarray(((from + i) * rate) / 50, ((from + i + 1) * rate) / 50))
    const packets: Array<RtpSample.Parsed> = []
    for (let length = by.next(frame, to); length > 0; length = by.more(to))
      packets.push(RtpSample.parse(by.bytes.slice(0, length)))
    return packets
  })
}

const octetsOf = (packets: ReadonlyArray<RtpSample.Parsed>) => packets.flatMap(({ payload }) => [...payload])

/** Numbers follow each other, and each timestamp is the end of the sound before it. */
const expectContinuous = (packets: ReadonlyArray<RtpSample.Parsed>, octetsPerUnit: number) => {
  let number = packets[0]?.sequenceNumber ?? 0
  let timestamp = packets[0]?.timestamp ?? 0
  for (const packet of packets) {
    expect(packet.sequenceNumber).toBe(number)
    expect(packet.timestamp).toBe(timestamp)
    number = (number + 1) & 0xffff
    timestamp = (timestamp + packet.payload.length / octetsPerUnit) >>> 0
  }
}

describe("The packets of a stream", () => {
  it.each([
    ["PCMU", 10, 80, 60],
    ["PCMA", 20, 160, 30],
    ["G722", 30, 240, 20],
    ["PCMU", 40, 320, 15],
    ["G722", 60, 480, 10],
    ["PCMA", 25, 200, 24],
    ["L16", 30, 960, 20],
    // 60 ms would be fragmented.
    ["L16", 60, 1280, 15]
  ] as const)("are as long as the peer wants, in %s with %i ms: %i octets", (codec, ptimeMs, octets, count) => {
    const packets = sent(sender(), encoding(codec, ptimeMs), 30).flat()
    expect(packets.map(({ payload }) => payload.length)).toEqual(Array.from({ length: count }, () => octets))
    expectContinuous(packets, codec === "L16" ? 2 : 1)
    expect(packets.map(({ marker }) => marker)).toEqual(packets.map((_, i) => i === 0))
    // The sound is that of packets of 20 ms.
    expect(octetsOf(packets)).toEqual(octetsOf(sent(sender(), encoding(codec, 20), 30).flat()))
  })

  it("leave with the frame that completes them", () => {
    const counts = (ptimeMs: number) => sent(sender(), encoding("PCMU", ptimeMs), 6).map(({ length }) => length)
    expect(counts(10)).toEqual([2, 2, 2, 2, 2, 2])
    expect(counts(20)).toEqual([1, 1, 1, 1, 1, 1])
    expect(counts(30)).toEqual([0, 1, 1, 0, 1, 1])
    expect(counts(60)).toEqual([0, 0, 1, 0, 0, 1])
  })

  it("have one frame in Opus, which cannot be cut", () => {
    const packets = sent(sender(), encoding("OPUS", 60), 3)
    expect(packets.map(({ length }) => length)).toEqual([1, 1, 1])
    expect(packets.flat().map(({ timestamp }) => timestamp)).toEqual([0xffff_ff00, 704, 1664])
  })

  it("follow a change of the length in the middle of the stream, without a gap", () => {
    const by = sender()
    const packets = [60, 10, 40, 20, 30].flatMap((ptimeMs, i) => sent(by, encoding("PCMU", ptimeMs), 4, 4 * i).flat())
    expectContinuous(packets, 1)
    expect(octetsOf(packets).length).toBeGreaterThan(160 * 17)
  })

  it("are shorter where no sound follows: before a digit, whose events come every 20 ms", () => {
    const by = sender()
    const to = encoding("PCMU", 60)
    const before = sent(by, to, 4).flat()
    const rest = RtpSample.parse(by.bytes.slice(0, by.flush(to)))
    expect(by.flush(to)).toBe(0)
    by.press("5", 60, to)
    const digit = sent(by, to, 5)
    expect([...before, rest].map(({ payload }) => payload.length)).toEqual([480, 160])
    expectContinuous([...before, rest], 1)
    expect(digit.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1])
    expect(digit.flat().every(({ payloadType, timestamp }) => payloadType === 101 && timestamp === 384)).toBe(true)
    const [after] = sent(by, to, 3).flat()
    expect(after).toMatchObject({ marker: true, timestamp: 384 + 5 * 160 })
    expect(after?.payload.length).toBe(480)
  })

  it("mix no sound of two codecs, and none from before the clock stood still", () => {
    const by = sender()
    sent(by, encoding("PCMU", 60), 1)
    const [changed] = sent(by, encoding("G722", 40), 2).flat()
    expect(changed).toMatchObject({ payloadType: 9, timestamp: (0xffff_ff00 + 160) >>> 0 })
    expect(changed?.payload.length).toBe(320)
    sent(by, encoding("G722", 40), 1)
    by.skip(5)
    const [later] = sent(by, encoding("G722", 40), 2).flat()
    expect(later).toMatchObject({ marker: true, timestamp: (0xffff_ff00 + 160 * 9) >>> 0 })
  })
})
