import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { packets } from "rtp.js"
import * as Rtcp from "../../../../src/protocol/rtp/rtcp/Rtcp.ts"
import * as RtcpParser from "../../../../src/protocol/rtp/rtcp/RtcpParser.ts"
import * as RtcpWriter from "../../../../src/protocol/rtp/rtcp/RtcpWriter.ts"
import { hostile } from "../RandomBytes.ts"

const block: Rtcp.ReportBlock = {
  ssrc: 0xcafe_babe,
  fractionLost: 255,
  cumulativeLost: -2,
  extendedHighestSequence: 0x0001_0005,
  jitter: 80,
  lastSenderReport: 0xffff_0001,
  delaySinceLastSenderReport: 65_536
}
const compound: ReadonlyArray<Rtcp.RtcpPacket> = [
  {
    type: "sender_report",
    ssrc: 0xdead_beef,
    ntpSeconds: 0xe000_0000,
    ntpFraction: 0x8000_0000,
    rtpTimestamp: 160,
    packetCount: 0xffff_ffff,
    octetCount: 17,
    reports: [block]
  },
  { type: "receiver_report", ssrc: 1, reports: [{ ...block, cumulativeLost: 0x7f_ffff }, block] },
  {
    type: "source_description",
    chunks: [
      {
        ssrc: 0xaaaa_aaaa,
        items: [
          { type: Rtcp.cname, text: "ab" },
          { type: 2, text: "Zoë" }
        ]
      },
      { ssrc: 0xbbbb_bbbb, items: [] },
      { ssrc: 0xcccc_cccc, items: [{ type: Rtcp.cname, text: "abcdef" }] }
    ]
  },
  { type: "bye", sources: [2, 3], reason: "done" },
  { type: "bye", sources: [2], reason: null },
  { type: "unknown", packetType: 205, count: 1, body: Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 2) }
]

describe("RTCP, RFC 3550 section 6", () => {
  it("reads back a compound of every kind of packet", () => {
    expect(Result.getOrThrow(RtcpParser.parse(RtcpWriter.write(compound)))).toStrictEqual(compound)
  })

  it("is read the same by an independent decoder", () => {
    const bytes = RtcpWriter.write(compound.slice(1, 4))
    const other = new packets.CompoundPacket(new DataView(bytes.buffer)).getPackets()
    const [receiver, description, bye] = other
    expect.assert(receiver instanceof packets.ReceiverReportPacket)
    const [report, second] = receiver.getReports()
    expect(report?.getFractionLost()).toBe(255)
    expect(report?.getHighestSeqNumber()).toBe(block.extendedHighestSequence)
    expect(second?.getJitter()).toBe(block.jitter)
    const sent = new packets.CompoundPacket(new DataView(RtcpWriter.write(compound.slice(0, 1)).buffer)).getPackets()[0]
    expect.assert(sent instanceof packets.SenderReportPacket)
    expect(sent.getSsrc()).toBe(0xdead_beef)
    expect(sent.getPacketCount()).toBe(0xffff_ffff)
    expect(sent.getOctetCount()).toBe(17)
    expect.assert(description instanceof packets.SdesPacket)
    expect(
      description
        .getChunks()[0]
        ?.getItems()
        .map(({ text }) => text)
    ).toStrictEqual(["ab", "Zoë"])
    expect.assert(bye instanceof packets.ByePacket)
    expect(bye.getReason()).toBe("done")
  })

  it.each([
    ["too_short", [0x80, 200, 0]],
    ["wrong_version", [0x00, 201, 0, 0]],
    ["bad_length", [0x80, 201, 0, 1]],
    ["bad_body", [0x81, 201, 0, 1, 0, 0, 0, 1]],
    ["bad_body", [0x81, 202, 0, 2, 0, 0, 0, 1, 1, 9, 65, 66]],
    ["bad_body", [0x81, 203, 0, 2, 0, 0, 0, 1, 4, 65, 66, 67]],
    ["bad_padding", [0xa0, 205, 0, 1, 0, 0, 0, 0]],
    ["bad_padding", [0xa0, 205, 0, 1, 0, 0, 0, 4, 0x80, 205, 0, 0]]
  ] as const)("refuses a datagram with %s", (reason, bytes) => {
    expect(RtcpParser.parse(Uint8Array.from(bytes))).toStrictEqual(Result.fail(reason))
  })

  it("reads or refuses 10,000 hostile byte strings without throwing", () => {
    const samples = [RtcpWriter.write(compound), ...compound.map((packet) => RtcpWriter.write([packet]))]
    let read = 0
    for (const bytes of hostile(10_000, 2, samples)) if (Result.isSuccess(RtcpParser.parse(bytes))) read++
    expect(read).toBeGreaterThan(100)
  })

  it("writes the share lost in front of 24 signed bits of packets lost", () => {
    const bytes = RtcpWriter.write([{ type: "receiver_report", ssrc: 1, reports: [block] }])
    expect([...bytes.subarray(12, 16)]).toStrictEqual([255, 0xff, 0xff, 0xfe])
  })

  it("keeps the middle of an NTP time, and half a second as half of its fraction", () => {
    expect(Rtcp.ntpTime(500)).toStrictEqual({ seconds: 2_208_988_800, fraction: 0x8000_0000 })
    expect(Rtcp.compactNtp(0x1234_5678, 0x9abc_def0)).toBe(0x5678_9abc)
  })
})
