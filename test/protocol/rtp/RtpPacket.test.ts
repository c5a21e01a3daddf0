import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { packets } from "rtp.js"
import * as RtpPacket from "../../../src/protocol/rtp/RtpPacket.ts"
import { hostile } from "./RandomBytes.ts"
import * as RtpSample from "./RtpSample.ts"

const uint = (bits: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** bits - 1 }))
const octets = (maximum: number) => Schema.Array(uint(8)).check(Schema.isMaxLength(maximum))
const headerFields = {
  payloadType: uint(7),
  marker: Schema.Boolean,
  sequenceNumber: uint(16),
  timestamp: uint(32),
  ssrc: uint(32)
}

const simple: RtpSample.Sample = {
  payloadType: 0,
  marker: true,
  sequenceNumber: 65_535,
  timestamp: 0xffff_ff60,
  ssrc: 0xdead_beef,
  payload: Uint8Array.of(1, 2, 3)
}
const full: RtpSample.Sample = {
  ...simple,
  marker: false,
  payloadType: 101,
  csrc: [1, 0xffff_ffff],
  extension: { profile: 0xbede, data: Uint8Array.of(0x10, 7, 0, 0) },
  paddingLength: 5
}
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const headerOf = ({ marker, payloadType, sequenceNumber, ssrc, timestamp }: RtpPacket.RtpHeader) => ({
  payloadType,
  marker,
  sequenceNumber,
  timestamp,
  ssrc
})

/** The other decoder reads RFC 8285 elements into the data of these profiles; random data is none. */
const uninterpreted = (profile: number): number => (profile === 0xbede || (profile & 0xfff0) === 0x1000 ? 1 : profile)

const anyPacket = {
  ...headerFields,
  csrc: Schema.Array(uint(32)).check(Schema.isMaxLength(15)),
  payload: octets(40),
  paddingLength: uint(8),
  extension: Schema.NullOr(
    Schema.Struct({ profile: uint(16), words: Schema.Array(uint(8)).check(Schema.isMaxLength(5)) })
  )
}
const sampleOf = ({
  extension,
  payload,
  ...rest
}: Schema.Struct<typeof anyPacket>["Type"]): RtpSample.Sample & { readonly csrc: ReadonlyArray<number> } => ({
  ...rest,
  payload: Uint8Array.from(payload),
  extension:
    extension === null
      ? null
      : {
          profile: uninterpreted(extension.profile),
          data: Uint8Array.from(extension.words.flatMap((word) => [word, 1, 2, 3]))
        }
})

describe("RTP packets, RFC 3550 section 5.1", () => {
  const read = RtpPacket.reader()

  it.prop(
    "are read as they were written, and so does an independent decoder",
    anyPacket,
    (fields) => {
      const sample = sampleOf(fields)
      const bytes = RtpSample.write(sample)
      expect(RtpSample.parse(bytes)).toEqual({ ...headerOf(sample), payload: sample.payload })
      const other = new packets.RtpPacket(viewOf(bytes))
      expect(headerOf(sample)).toEqual({
        payloadType: other.getPayloadType(),
        marker: other.getMarker(),
        sequenceNumber: other.getSequenceNumber(),
        timestamp: other.getTimestamp(),
        ssrc: other.getSsrc()
      })
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "get another header where they lie, and keep all the rest",
    { packet: Schema.Struct(anyPacket), header: Schema.Struct(headerFields) },
    ({ header, packet }) => {
      const sample = sampleOf(packet)
      const bytes = RtpSample.write(sample)
      RtpPacket.rewrite(bytes, header)
      expect(bytes).toEqual(RtpSample.write({ ...sample, ...header }))
      expect(RtpSample.parse(bytes)).toEqual({ ...header, payload: sample.payload })
    },
    { arbitrary: { runs: 200 } }
  )

  it("begin with a header that stands before the payload", () => {
    const bytes = new Uint8Array(RtpPacket.headerLength + 3).fill(0xff)
    RtpPacket.writeHeader(bytes, simple)
    bytes.set(simple.payload, RtpPacket.headerLength)
    expect(bytes).toEqual(RtpSample.write(simple))
  })

  it("are read from a view into a larger buffer, and one reader reads one after the other", () => {
    const bytes = RtpSample.write(full)
    const buffer = new Uint8Array(bytes.length + 9)
    buffer.set(bytes, 7)
    const view = buffer.subarray(7, 7 + bytes.length)
    const first = read(view)
    expect(first).toMatchObject({ ...headerOf(full), bytes: view, payloadStart: 28, payloadEnd: 31 })
    expect(read(RtpSample.write(simple))).toBe(first)
    expect(first).toMatchObject({ ...headerOf(simple), payloadStart: 12, payloadEnd: 15 })
  })

  it.each([
    ["too_short", [0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]],
    ["wrong_version", [0x40, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["too_short", [0x81, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["bad_extension", [0x90, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    ["bad_extension", [0x90, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["bad_padding", [0xa0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["bad_padding", [0xa0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["bad_padding", [0xa0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2]]
  ] as const)("that are %s are refused", (reason, bytes) => {
    expect(read(Uint8Array.from(bytes))).toBe(reason)
  })

  it("are read or refused among 10,000 hostile byte strings, without throwing", () => {
    for (const bytes of hostile(10_000, 1, [RtpSample.write(simple), RtpSample.write(full)])) {
      const packet = read(bytes)
      if (typeof packet === "string") continue
      expect(packet.payloadStart).toBeGreaterThanOrEqual(12)
      expect(packet.payloadEnd).toBeGreaterThanOrEqual(packet.payloadStart)
      expect(packet.payloadEnd).toBeLessThanOrEqual(bytes.length)
    }
  })

  it("are told from RTCP on a shared port by the packet type, RFC 5761", () => {
    expect(RtpPacket.isRtcp(Uint8Array.of(0x80, 200))).toBe(true)
    expect(RtpPacket.isRtcp(Uint8Array.of(0x80, 205))).toBe(true)
    expect(RtpPacket.isRtcp(RtpSample.write(simple))).toBe(false)
    expect(RtpPacket.isRtcp(RtpSample.write({ ...full, marker: true }))).toBe(false)
    expect(RtpPacket.isRtcp(new Uint8Array(1))).toBe(false)
  })
})
