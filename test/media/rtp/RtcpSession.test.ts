import { describe, expect, it } from "@effect/vitest"
import * as RtcpSession from "../../../src/media/rtp/RtcpSession.ts"
import * as RtcpWriter from "../../../src/protocol/rtp/rtcp/RtcpWriter.ts"

const [ours, theirs] = [1, 2]

const session = () => RtcpSession.make({ ssrc: ours, cname: "us", random: () => 0, wallClock: () => 0 })

/** A report of the peer about the stream `about`, with this jitter in units of the clock of that stream. */
const report = (jitter: number, about = ours, cumulativeLost = 0) =>
  RtcpWriter.write([
    {
      type: "receiver_report",
      ssrc: theirs,
      reports: [
        {
          ssrc: about,
          fractionLost: 0,
          cumulativeLost,
          extendedHighestSequence: 0,
          jitter,
          lastSenderReport: 0,
          delaySinceLastSenderReport: 0
        }
      ]
    }
  ])

describe("The peer's reports", () => {
  it("give the jitter of the last one, the mean and the maximum of all", () => {
    const rtcp = session()
    expect(rtcp.reported()).toBeNull()
    for (const jitter of [8, 400, 24]) rtcp.receive(report(jitter), 0, 8000)
    expect(rtcp.reported()).toMatchObject({ jitterMs: 3, jitterMeanMs: 18, jitterMaxMs: 50 })
  })

  it("are each in the clock units that the stream had", () => {
    const rtcp = session()
    rtcp.receive(report(80), 0, 8000)
    rtcp.receive(report(960), 0, 48_000)
    expect(rtcp.reported()).toMatchObject({ jitterMs: 20, jitterMeanMs: 15, jitterMaxMs: 20 })
  })

  it("about another stream are left out", () => {
    const rtcp = session()
    rtcp.receive(report(80, ours, 3), 0, 8000)
    rtcp.receive(report(8000, theirs, 9), 0, 8000)
    expect(rtcp.reported()).toMatchObject({ block: { cumulativeLost: 3 }, jitterMs: 10, jitterMaxMs: 10 })
  })
})
