/** A router of RFC 2543 on the way of a call, RFC 3261 sections 12.2.1.1 and 16.12. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import { header, headers, type Header, type SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

const strict = { address: "192.0.2.7", port: 5060 }
/** The strict router is next to us, a loose one after it. */
const record: Header = ["Record-Route", "<sip:192.0.2.8;lr>, <sip:192.0.2.7>"]

const answered = Effect.gen(function* () {
  const rig = yield* Rig.make()
  yield* rig.command(Rig.dial)
  const invite = Rig.requestOf(rig.sent(), "INVITE")
  yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(), headers: [record] }))
  return { rig, invite, sent: rig.sent(), told: rig.told() }
})

/** The request goes to the strict router, whose URI is the Request-URI; its target is the last Route. */
const expectStrict = (sent: ReturnType<Rig.Rig["sent"]>, method: string): SipRequest => {
  expect(Rig.names(sent)).toEqual([method])
  expect(sent[0]?.to).toEqual(strict)
  const request = Rig.requestOf(sent, method)
  expect(request.uri).toBe("sip:192.0.2.7")
  expect(headers(request, "Route")).toEqual(["<sip:192.0.2.8;lr>", "<sip:bob@192.0.2.2:5062>"])
  return request
}

describe("behind a strict router", () => {
  it.effect("the ACK goes to it, also for a repeated 200", () =>
    Effect.gen(function* () {
      const { invite, rig, sent } = yield* answered
      const ack = expectStrict(sent, "ACK")
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(), headers: [record] }))
      expect(expectStrict(rig.sent(), "ACK")).toEqual(ack)
    })
  )

  it.effect("the BYE goes to it", () =>
    Effect.gen(function* () {
      const { rig } = yield* answered
      yield* rig.command(Rig.hangup)
      expectStrict(rig.sent(), "BYE")
    })
  )

  it.effect("the BYE of the next process goes to it", () =>
    Effect.gen(function* () {
      const { told } = yield* answered
      const last = told.at(-1)
      const resume = last !== undefined && "resume" in last ? last.resume : null
      const next = yield* Rig.make("next")
      yield* next.command({ ...Rig.of, commandId: Ids.command("h"), type: "hangup", origin: null, resume })
      expectStrict(next.sent(), "BYE")
    })
  )

  it.effect("ACK and BYE for another branch of a forked INVITE go to it", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered
      yield* rig.deliver(Rig.reply(invite, 200, { toTag: "fork", body: Rig.sdpBody(), headers: [record] }))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["ACK", "BYE"])
      expect(sent.map(({ to }) => to)).toEqual([strict, strict])
    })
  )

  it.effect("the CANCEL of the next process goes where the INVITE went, which no router had recorded yet", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.command(Rig.dial)
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      yield* rig.deliver(Rig.reply(invite, 180, { headers: [record] }))
      const last = rig.told().at(-1)
      const resume = last !== undefined && "resume" in last ? last.resume : null
      const next = yield* Rig.make("next")
      yield* next.command({ ...Rig.of, commandId: Ids.command("h"), type: "hangup", origin: null, resume })
      const sent = next.sent()
      expect(Rig.names(sent)).toEqual(["CANCEL"])
      expect(sent[0]?.to).toEqual(Rig.peer)
      const cancel = Rig.requestOf(sent, "CANCEL")
      expect([cancel.uri, headers(cancel, "Route"), header(cancel, "Via")]).toEqual([
        invite.uri,
        [],
        header(invite, "Via")
      ])
    })
  )

  it.effect("the caller's BYE is taken by its dialog, whatever the router made of the Request-URI", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      const invite = Rig.invite({ headers: [["Record-Route", "<sip:192.0.2.7>"]] })
      yield* rig.deliver(invite)
      yield* rig.command({ ...Rig.ofOffered(rig), type: "answer" })
      const answer = Rig.responseOf(rig.sent(), 200)
      const fields = { sentBy: "192.0.2.7:5060", callId: "in-1", from: header(invite, "From") ?? "" }
      // A strict router knows us only by the Route that the caller put last: our Contact.
      const uri = (header(answer, "Contact") ?? "").replace(/^<|>$/g, "")
      const within = { ...fields, uri, to: header(answer, "To") ?? "" }
      yield* rig.deliver(Requests.make({ ...within, method: "ACK", branch: "z9hG4bKack", cseq: 1 }))
      yield* rig.deliver(
        Requests.make({ ...within, uri: "sip:192.0.2.1", method: "BYE", branch: "z9hG4bKbye", cseq: 2 })
      )
      expect(Rig.words(rig.told())).toEqual(["answered", "ended hangup - far"])
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )
})
