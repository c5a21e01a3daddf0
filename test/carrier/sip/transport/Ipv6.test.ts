/** Whole calls over IPv6 and between families: two carriers with real sockets, their sound in real threads. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import * as Ids from "../../../support/Ids.ts"
import type { RecordingSink } from "../../RecordingSink.ts"
import * as Rig from "../Rig.ts"
import * as UdpSide from "./UdpSide.ts"

describe("a call with digits in both directions", () => {
  for (const [caller, callee, address] of [
    ["::1", "::1", "::1"],
    ["::", "127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "::", "127.0.0.1"],
    ["::", "::1", "::1"]
  ] as const)
    it.live(`goes from ${caller} to ${callee}`, () =>
      Effect.gen(function* () {
        const a = yield* UdpSide.make({ label: "a", host: caller, peer: address, portMin: 43_100 })
        const b = yield* UdpSide.make({ label: "b", host: callee, peer: address, portMin: 43_120 })
        a.dialTo(b.port)
        yield* a.command(Rig.dial)
        yield* UdpSide.until("an offer", () => b.sink.offers.length > 0)
        const [offer] = b.sink.offers
        if (offer === undefined) return expect.fail("no offer")
        expect(offer.source).toBe(address)
        const inbound = { callId: Ids.call(`call of ${offer.legId}`), tenantId: Ids.tenant("t"), legId: offer.legId }
        yield* b.command({ ...inbound, commandId: Ids.command("answer"), type: "answer" })
        yield* UdpSide.until(
          "both answered",
          () => UdpSide.saw(a.sink, Rig.of.legId, "answered") && UdpSide.saw(b.sink, offer.legId, "answered")
        )
        const digits = (id: string, digit: string) =>
          ({ type: "send_dtmf", id: Ids.work(id), digits: digit, durationMs: 100 }) as const
        yield* a.command({
          ...Rig.of,
          commandId: Ids.command("d1"),
          type: "media",
          tenantId: Ids.tenant("t"),
          media: digits("d1", "7")
        })
        yield* b.command({
          ...inbound,
          commandId: Ids.command("d2"),
          type: "media",
          tenantId: Ids.tenant("t"),
          media: digits("d2", "8")
        })
        const heard = (sink: RecordingSink["Service"], leg: typeof offer.legId) =>
          sink
            .of(leg)
            .flatMap((report) => (report.type === "media" && report.event.type === "dtmf" ? [report.event.digit] : []))
        yield* UdpSide.until(
          "a digit on both sides",
          () => heard(a.sink, Rig.of.legId).length + heard(b.sink, offer.legId).length > 1
        )
        expect([heard(a.sink, Rig.of.legId), heard(b.sink, offer.legId)]).toEqual([["8"], ["7"]])
        yield* b.command({ ...inbound, commandId: Ids.command("h"), type: "hangup", origin: null, resume: null })
        yield* UdpSide.until(
          "both ended",
          () => UdpSide.saw(a.sink, Rig.of.legId, "ended") && UdpSide.saw(b.sink, offer.legId, "ended")
        )
        const resume = a.sink.of(Rig.of.legId).find((report) => report.type === "answered")?.resume
        expect(resume).toMatchObject({
          version: 2,
          contact: `<sip:+12025550150@${IpAddress.host(address)}:${a.port}>`,
          flow: { transport: "udp", local: { address, port: a.port }, remote: { address, port: b.port } }
        })
      })
    )
})
