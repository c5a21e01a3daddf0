import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { packets } from "rtp.js"
import * as RtpPacket from "../../src/rtp/RtpPacket.ts"
import { hostile } from "./RandomBytes.ts"

const uint = (bits: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** bits - 1 }))
const octets = (maximum: number) => Schema.Array(uint(8)).check(Schema.isMaxLength(maximum))

const simple: RtpPacket.RtpPacket = {
  payloadType: 0,
  marker: true,
  sequenceNumber: 65_535,
  timestamp: 0xffff_ff60,
  ssrc: 0xdead_beef,
  csrc: [],
  extension: null,
  payload: Uint8Array.of(1, 2, 3),
  paddingLength: 0
}
const full: RtpPacket.RtpPacket = {
  ...simple,
  marker: false,
  payloadType: 101,
  csrc: [1, 0xffff_ffff],
  extension: { profile: 0xbede, data: Uint8Array.of(0x10, 7, 0, 0) },
  paddingLength: 5
}
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The other decoder reads RFC 8285 elements into the data of these profiles; random data is none. */
const uninterpreted = (profile: number): number => (profile === 0xbede || (profile & 0xfff0) === 0x1000 ? 1 : profile)

describe("RTP packets, RFC 3550 section 5.1", () => {
  it.prop(
    "what is written is read back, by us and by an independent decoder",
    {
      payloadType: uint(7),
      marker: Schema.Boolean,
      sequenceNumber: uint(16),
      timestamp: uint(32),
      ssrc: uint(32),
      csrc: Schema.Array(uint(32)).check(Schema.isMaxLength(15)),
      payload: octets(40),
      paddingLength: uint(8),
      extension: Schema.NullOr(
        Schema.Struct({ profile: uint(16), words: Schema.Array(uint(8)).check(Schema.isMaxLength(5)) })
      )
    },
    ({ extension, payload, ...rest }) => {
      const packet: RtpPacket.RtpPacket = {
        ...rest,
        payload: Uint8Array.from(payload),
        extension:
          extension === null
            ? null
            : {
                profile: uninterpreted(extension.profile),
                data: Uint8Array.from(extension.words.flatMap((word) => [word, 1, 2, 3]))
              }
      }
      const bytes = RtpPacket.write(packet)
      assert.deepStrictEqual(Result.getOrThrow(RtpPacket.parse(bytes)), packet)
      const other = new packets.RtpPacket(viewOf(bytes))
      assert.strictEqual(other.getSequenceNumber(), packet.sequenceNumber)
      assert.strictEqual(other.getTimestamp(), packet.timestamp)
      assert.strictEqual(other.getSsrc(), packet.ssrc)
      assert.strictEqual(other.getPayloadType(), packet.payloadType)
      assert.strictEqual(other.getMarker(), packet.marker)
      assert.deepStrictEqual(other.getCsrcs(), [...packet.csrc])
      assert.strictEqual(other.getPayload().byteLength, packet.payload.length)
      assert.strictEqual(other.getPadding(), packet.paddingLength)
    },
    { arbitrary: { runs: 500 } }
  )

  it("reads a datagram that is a view into a larger buffer", () => {
    const bytes = RtpPacket.write(full)
    const buffer = new Uint8Array(bytes.length + 9)
    buffer.set(bytes, 7)
    assert.deepStrictEqual(Result.getOrThrow(RtpPacket.parse(buffer.subarray(7, 7 + bytes.length))), full)
  })

  it.each([
    ["too_short", [0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]],
    ["wrong_version", [0x40, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["too_short", [0x81, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["bad_extension", [0x90, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    ["bad_padding", [0xa0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["bad_padding", [0xa0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["bad_padding", [0xa0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2]]
  ] as const)("refuses a packet that is %s", (reason, bytes) => {
    assert.deepStrictEqual(RtpPacket.parse(Uint8Array.from(bytes)), Result.fail(reason))
  })

  it("reads or refuses 10,000 hostile byte strings without throwing", () => {
    for (const bytes of hostile(10_000, 1, [RtpPacket.write(simple), RtpPacket.write(full)])) {
      const parsed = RtpPacket.parse(bytes)
      if (Result.isSuccess(parsed)) assert.isAtMost(parsed.success.payload.length, bytes.length - 12)
    }
  })

  it("tells RTCP on a shared port by its packet type, RFC 5761", () => {
    assert.isTrue(RtpPacket.isRtcp(Uint8Array.of(0x80, 200)))
    assert.isTrue(RtpPacket.isRtcp(Uint8Array.of(0x80, 205)))
    assert.isFalse(RtpPacket.isRtcp(RtpPacket.write(simple)))
    assert.isFalse(RtpPacket.isRtcp(RtpPacket.write({ ...full, marker: true })))
    assert.isFalse(RtpPacket.isRtcp(new Uint8Array(1)))
  })
})
