import type { LegId } from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"
import * as RtpSample from "../../protocol/rtp/RtpSample.ts"
import type * as StreamBench from "./StreamBench.ts"

/** An RTP leg in PCMU whose peer is the test. */
export const make = (bench: StreamBench.StreamBench, name = "leg") => {
  const leg: LegId = Ids.leg(name)
  const peerPort = 20_000
  bench.handle({ type: "open_rtp", leg })
  const connect = () => bench.handle({ type: "connect_rtp", leg, remote: bench.remote(peerPort) })
  let sequenceNumber = 100
  let timestamp = 8000
  return {
    leg,
    connect,
    /** Sends 20 ms from the peer now; `skip` packets before it were lost. */
    speak: (payload: Uint8Array, skip = 0) => {
      sequenceNumber += skip
      timestamp += skip * 160
      const bytes = RtpSample.write({ payloadType: 0, marker: false, sequenceNumber, timestamp, ssrc: 7, payload })
      bench.network.receive({
        channel: "rtp",
        bytes,
        from: { address: "127.0.0.1", port: peerPort },
        to: { address: "127.0.0.1", port: bench.portOf(leg) }
      })
      sequenceNumber = (sequenceNumber + 1) & 0xffff
      timestamp += payload.length
    },
    /** Sends 20 ms late: the packet after `after` others. */
    late: (payload: Uint8Array, after: number) =>
      bench.network.receive({
        channel: "rtp",
        bytes: RtpSample.write({
          payloadType: 0,
          marker: false,
          sequenceNumber: 100 + after,
          timestamp: 8000 + after * 160,
          ssrc: 7,
          payload
        }),
        from: { address: "127.0.0.1", port: peerPort },
        to: { address: "127.0.0.1", port: bench.portOf(leg) }
      }),
    /** The octets of PCMU that the peer was sent since the last call. */
    heard: (): Uint8Array =>
      Uint8Array.from(
        bench.network.sent
          .splice(0)
          .filter(({ channel, to }) => channel === "rtp" && to.port === peerPort)
          .flatMap(({ bytes }) => [...RtpSample.parse(bytes).payload])
      )
  }
}

/** 0xff and 0x7f are both zero in PCMU. */
export const silence = 0xff

/** Returns where `needle` begins in `hay`; -1: nowhere. */
export const find = (hay: Uint8Array, needle: Uint8Array): number => Buffer.from(hay).indexOf(Buffer.from(needle))

/** Octets of PCMU without silence, in which no two runs are alike. */
export const sound = (length: number, seed: number): Uint8Array => {
  let state = seed * 2_654_435_761 + 1
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    // No value is zero, or near it, so the end of the sound is never quiet.
    return ((state >>> 24) & 0x80) | ((state >>> 8) & 0x3f)
  })
}
