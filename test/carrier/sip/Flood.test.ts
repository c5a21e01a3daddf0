/** The short form of `npm run bench -- --only strangers`: in a flood calls make progress, in their order. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dialog from "../../../src/protocol/sip/dialog/Dialog.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"
import * as Ids from "../../support/Ids.ts"
import * as Rig from "./Rig.ts"

const calls = 20
/** Datagrams of strangers between any two messages of a call. */
const between = 250

describe("while strangers flood the SIP port", () => {
  for (const addresses of [1, 4_000])
    it.effect(`calls of the trunk and to it begin, are answered and end: from ${addresses} addresses`, () =>
      Effect.gen(function* () {
        const rig = yield* Rig.make("flood")
        let serial = 0
        let answers = 0
        const flood = Effect.gen(function* () {
          yield* Rig.pass(50)
          rig.sent()
          for (let each = 0; each < between; each++) {
            const index = serial++ % addresses
            const method = serial % 2 === 0 ? "OPTIONS" : "INVITE"
            const request = Rig.invite({ method, branch: `z9hG4bKs${serial}`, callId: `s${serial}` })
            rig.deliverBytes(SipWriter.write(request), { address: `10.${index >> 8}.0.${index & 255}`, port: 5060 })
          }
          answers += rig.sent().length
        })
        for (let call = 0; call < calls; call++) {
          const invite = Rig.invite({ branch: `z9hG4bKcall${call}`, callId: `call-${call}` })
          yield* flood
          yield* rig.deliver(invite)
          const { legId } = rig.offers[call] ?? expect.fail("no offer")
          yield* rig.command({ ...Rig.ofOffered(rig), commandId: Ids.command(`a${call}`), legId, type: "answer" })
          const success = Rig.responseOf(rig.sent(), 200)
          const hop = (name: string) => ({ sentBy: "192.0.2.2:5062", branch: `z9hG4bK${name}${call}` })
          const dialog = Dialog.fromResponse(invite, success) ?? expect.fail("no dialog")
          const ack = Dialog.acknowledge(dialog, invite, hop("ack"), {})
          yield* flood
          yield* rig.deliver(ack.request)
          yield* flood
          yield* rig.deliver(Dialog.request(ack.dialog, "BYE", hop("bye")).request)
          expect(Rig.words(rig.told())).toEqual(["answered", "ended hangup - far"])

          const ids = { callId: Ids.call(`out${call}`), legId: Ids.leg(`out${call}`) }
          yield* flood
          yield* rig.command({ ...Rig.dial, ...ids, commandId: Ids.command(`d${call}`) })
          const placed = Rig.requestOf(rig.sent(), "INVITE")
          yield* flood
          yield* rig.deliver(Rig.reply(placed, 200, { body: Rig.sdpBody() }))
          expect(Rig.words(rig.told())).toEqual(["answered"])
          yield* rig.command({ ...Rig.hangup, ...ids, commandId: Ids.command(`h${call}`) })
          const bye = Rig.requestOf(rig.sent(), "BYE")
          yield* flood
          yield* rig.deliver(Rig.reply(bye, 200))
          expect(Rig.words(rig.told())).toEqual(["ended hangup - near"])
        }
        // Strangers got as much as their buckets hold, and no state of them is kept.
        expect(serial).toBe(calls * 6 * between)
        expect(answers).toBeLessThanOrEqual(addresses === 1 ? 20 : 1_000)
        yield* Rig.pass(64_000)
        expect(yield* rig.stats).toMatchObject(Rig.nothing)
        expect(rig.offers).toHaveLength(calls)
      })
    )
})
