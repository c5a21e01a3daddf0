/** Calls over sockets with a peer whose Contact is an address at which it cannot be reached from here. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"
import * as UdpSide from "./UdpSide.ts"

const tenantId = Ids.tenant("t")
const offered = (legId: ReturnType<typeof Ids.leg>) => ({ callId: Ids.call(`call of ${legId}`), tenantId, legId })

for (const [address, inside] of [
  ["127.0.0.1", "192.168.178.23"],
  ["127.0.0.1", "10.1.2.3"],
  ["127.0.0.1", "100.64.7.8"],
  ["::1", "fd00:0:0:1::23"]
] as const)
  describe(`a peer at ${address} that calls itself ${inside}`, () => {
    const sides = Effect.gen(function* () {
      const us = yield* UdpSide.make({ label: "us", host: address, peer: address, portMin: null })
      const peer = yield* UdpSide.make({
        label: "peer",
        host: address,
        peer: address,
        announced: inside,
        portMin: null
      })
      us.dialTo(peer.port)
      peer.dialTo(us.port)
      return { us, peer }
    })

    it.live("gets the ACK to its answer, a REFER and the BYE of our call", () =>
      Effect.gen(function* () {
        const { peer, us } = yield* sides
        yield* us.command(Rig.dial)
        yield* UdpSide.until("an offer", () => peer.sink.offers.length > 0)
        const legId = peer.sink.offers[0]?.legId ?? Ids.leg("")
        yield* peer.command({ ...offered(legId), commandId: Ids.command("answer"), type: "answer" })
        yield* UdpSide.until("the ACK", () => UdpSide.saw(peer.sink, legId, "answered"))
        yield* us.command({
          ...Rig.of,
          commandId: Ids.command("refer"),
          type: "refer",
          to: "sip:+12025550170@192.0.2.9",
          headers: []
        })
        yield* UdpSide.until("an answer to the REFER", () => UdpSide.saw(us.sink, Rig.of.legId, "referred"))
        expect(us.sink.of(Rig.of.legId)).toContainEqual(expect.objectContaining({ type: "referred", sipStatus: 405 }))
        yield* us.command(Rig.hangup)
        yield* UdpSide.until("the BYE", () => UdpSide.saw(peer.sink, legId, "ended"))
        expect(peer.sink.of(legId)).toContainEqual(
          expect.objectContaining({ type: "ended", cause: "hangup", by: "far" })
        )
      })
    )

    it.live("gets the BYE of the call that it placed", () =>
      Effect.gen(function* () {
        const { peer, us } = yield* sides
        yield* peer.command(Rig.dial)
        yield* UdpSide.until("an offer", () => us.sink.offers.length > 0)
        const legId = us.sink.offers[0]?.legId ?? Ids.leg("")
        yield* us.command({ ...offered(legId), commandId: Ids.command("answer"), type: "answer" })
        yield* UdpSide.until("the ACK", () => UdpSide.saw(us.sink, legId, "answered"))
        yield* us.command({
          ...offered(legId),
          commandId: Ids.command("hangup"),
          type: "hangup",
          origin: null,
          resume: null
        })
        yield* UdpSide.until("the BYE", () => UdpSide.saw(peer.sink, Rig.of.legId, "ended"))
        expect(peer.sink.of(Rig.of.legId)).toContainEqual(
          expect.objectContaining({ type: "ended", cause: "hangup", by: "far" })
        )
      })
    )
  })
