import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as TrunkNumberPlan from "../../../../../src/carrier/number/TrunkNumberPlan.ts"
import type { MediaEvent } from "../../../../../src/ports/media/MediaMessage.ts"
import * as Dialog from "../../../../../src/protocol/sip/dialog/Dialog.ts"
import { header, type SipRequest, type SipResponse } from "../../../../../src/protocol/sip/message/SipMessage.ts"
import * as Media from "../../../../media/support/MediaSample.ts"
import * as Ids from "../../../../support/Ids.ts"
import * as Rig from "../../Rig.ts"

const dialled = Effect.fnUntraced(function* (label?: string) {
  const rig = yield* Rig.make(label)
  yield* rig.command(Rig.dial)
  return { rig, invite: Rig.requestOf(rig.sent(), "INVITE") }
})

const ok = (invite: SipRequest, toTag = "bob"): SipResponse => Rig.reply(invite, 200, { toTag, body: Rig.sdpBody() })

const answered = Effect.fnUntraced(function* (label?: string) {
  const { invite, rig } = yield* dialled(label)
  yield* rig.deliver(Rig.reply(invite, 180))
  yield* rig.deliver(ok(invite))
  const ack = Rig.requestOf(rig.sent(), "ACK")
  rig.told()
  return { rig, invite, ack }
})

/** A request of the peer in the dialog of our INVITE. */
const within = (invite: SipRequest, method: string, cseq: number, more: { body?: Uint8Array; type?: string } = {}) => {
  const dialog = Dialog.fromRequest(invite, { localTag: "bob", contact: "<sip:bob@192.0.2.2:5062>", cseq: cseq - 1 })
  if (dialog === null) return expect.fail("no dialog")
  return Dialog.request(
    dialog,
    method,
    { sentBy: "192.0.2.2:5062", branch: `z9hG4bKbob${method}${cseq}` },
    more.body === undefined ? {} : { body: { type: more.type ?? "application/sdp", bytes: more.body } }
  ).request
}

describe("an outbound leg", () => {
  it.effect("invites at the trunk of its route, with our number in From and P-Asserted-Identity", () =>
    Effect.gen(function* () {
      const { invite } = yield* dialled()
      expect(invite.uri).toBe("sip:+4930123456@192.0.2.2:5062")
      expect(header(invite, "From")).toMatch(/^<sip:\+12025550150@192\.0\.2\.1>;tag=/)
      expect(header(invite, "P-Asserted-Identity")).toBe("<sip:+12025550150@192.0.2.1>")
      expect(new TextDecoder().decode(invite.body)).toContain("m=audio 40002 RTP/AVP 9 0 8 96 101 97\r\n")
    })
  )

  it.effect("writes numbers as the plan of its trunk says, and names us by its user and domain", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("national")
      const plan = { ...TrunkNumberPlan.none, country: "DE", sends: "national" as const }
      rig.trunk = {
        ...Rig.trunk,
        numbers: { ...plan, techPrefix: "77#", fromUser: "account7", fromDomain: "trunk.example" }
      }
      yield* rig.command({ ...Rig.dial, callerIdName: "Shop" })
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      expect(invite.uri).toBe("sip:77%23030123456@192.0.2.2:5062")
      expect(header(invite, "To")).toBe("<sip:77%23030123456@192.0.2.2:5062>")
      expect(header(invite, "From")).toMatch(/^"Shop" <sip:account7@trunk\.example>;tag=/)
      expect(header(invite, "P-Asserted-Identity")).toBe('"Shop" <sip:0012025550150@trunk.example>')
      expect(header(invite, "Contact")).toBe("<sip:0012025550150@192.0.2.1:5060>")
    })
  )

  it.effect("offers the codecs of the operator in their order, and sends in the one that the answer takes", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("codecs", undefined, undefined, ["G722", "PCMA"])
      yield* rig.command(Rig.dial)
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      expect(new TextDecoder().decode(invite.body)).toContain(
        "m=audio 40002 RTP/AVP 9 8 101\r\na=rtpmap:9 G722/8000\r\na=rtpmap:8 PCMA/8000\r\n"
      )
      yield* rig.deliver(Rig.reply(invite, 200, { toTag: "bob", body: Rig.sdpBody(30_000, "a=sendrecv", "9 101") }))
      expect(rig.connections()).toMatchObject([{ codec: "G722", audio: { send: 9, receive: 9 } }])
    })
  )

  it.effect("tells of ringing, then of the answer, and acknowledges only when that is committed", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.deliver(Rig.reply(invite, 100))
      yield* rig.deliver(Rig.reply(invite, 180))
      yield* rig.deliver(Rig.reply(invite, 180))
      expect(Rig.words(rig.told())).toEqual(["ringing"])
      yield* rig.hold(true)
      yield* rig.deliver(ok(invite))
      yield* rig.deliver(ok(invite))
      expect(Rig.words(rig.told())).toEqual(["answered"])
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toEqual(["ACK"])
      yield* rig.deliver(ok(invite))
      expect(Rig.names(rig.sent())).toEqual(["ACK"])
      expect(rig.connections()).toMatchObject([
        { address: "192.0.2.2", port: 30_000, codec: "PCMU", signallingAddress: Rig.peer.address }
      ])
    })
  )

  it.effect("connects early media and tells of it once", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.deliver(Rig.reply(invite, 183, { body: Rig.sdpBody() }))
      yield* rig.deliver(Rig.reply(invite, 183, { body: Rig.sdpBody() }))
      expect(Rig.words(rig.told())).toEqual(["early_media"])
      expect(rig.connections()[0]).toMatchObject({ port: 30_000 })
      // The final answer may omit the description of the provisional one.
      yield* rig.deliver(Rig.reply(invite, 200))
      expect(Rig.words(rig.told())).toEqual(["answered"])
    })
  )

  it.effect("ends with the status of a refusal", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.deliver(Rig.reply(invite, 486))
      expect(Rig.words(rig.told())).toEqual(["ended final_response 486 far"])
      expect(Rig.names(rig.sent())).toEqual(["ACK"])
      expect(rig.media.at(-1)).toEqual(["close", "svc_leg_1"])
      expect(yield* rig.presence(Ids.leg("svc_leg_1"))).toBe("gone")
    })
  )

  it.effect("ends after Timer B when nobody answers, having repeated its INVITE", () =>
    Effect.gen(function* () {
      const { rig } = yield* dialled()
      yield* Rig.pass(32_000)
      expect(Rig.names(rig.sent())).toHaveLength(6)
      expect(Rig.words(rig.told())).toEqual(["ended timer - network"])
    })
  )

  it.effect("ends at once when its packets cannot be sent", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.unreachable = true
      yield* rig.command(Rig.dial)
      yield* Rig.pass(1)
      expect(Rig.words(rig.told())).toEqual(["ended timer - network"])
    })
  )

  it.effect("ends as no_route without a trunk, and as an error without room for its media", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.trunk = null
      yield* rig.command(Rig.dial)
      expect(Rig.words(rig.told())).toEqual(["ended no_route - network"])
      rig.trunk = Rig.trunk
      rig.mediaFull = true
      yield* rig.command({ ...Rig.dial, commandId: Ids.command("dial-2"), legId: Ids.leg("svc_leg_2") })
      expect(Rig.words(rig.told())).toEqual(["ended error - network"])
      expect(rig.sent()).toEqual([])
    })
  )

  it.effect("answers a challenge once, and gives up when the password is refused", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.trunk = { ...Rig.trunk, username: "alice", password: "secret" }
      yield* rig.command(Rig.dial)
      const first = Rig.requestOf(rig.sent(), "INVITE")
      const challenge = (nonce: string, more = "") =>
        ["Proxy-Authenticate", `Digest realm="trunk", nonce="${nonce}", qop="auth"${more}`] as const
      yield* rig.deliver(Rig.reply(first, 407, { headers: [challenge("n1")] }))
      const second = Rig.requestOf(rig.sent(), "INVITE")
      expect(Rig.cseqOf(second)).toBe(2)
      expect(header(second, "Call-ID")).toBe(header(first, "Call-ID"))
      expect(header(second, "Proxy-Authorization")).toContain('username="alice"')
      yield* rig.deliver(Rig.reply(second, 407, { headers: [challenge("n2", ", stale=true")] }))
      const third = Rig.requestOf(rig.sent(), "INVITE")
      expect(header(third, "Proxy-Authorization")).toContain('nonce="n2"')
      yield* rig.deliver(Rig.reply(third, 407, { headers: [challenge("n3")] }))
      expect(Rig.words(rig.told())).toEqual(["ended final_response 407 far"])
    })
  )

  it.effect("hangs up with BYE, answers a challenge to it, and ends when that is answered", () =>
    Effect.gen(function* () {
      const { rig } = yield* answered()
      rig.trunk = { ...Rig.trunk, username: "alice", password: "secret" }
      yield* rig.command(Rig.hangup)
      yield* rig.command(Rig.hangup)
      const bye = Rig.requestOf(rig.sent(), "BYE")
      expect(Rig.cseqOf(bye)).toBe(2)
      expect(rig.told()).toEqual([])
      yield* rig.deliver(Rig.reply(bye, 200))
      expect(Rig.words(rig.told())).toEqual(["ended hangup - near"])
      expect(yield* rig.presence(Ids.leg("svc_leg_1"))).toBe("gone")
    })
  )

  it.effect("ends within eight seconds of a BYE that nobody answers", () =>
    Effect.gen(function* () {
      const { rig } = yield* answered()
      yield* rig.command(Rig.hangup)
      yield* Rig.pass(7_900)
      expect(Rig.words(rig.told())).toEqual(["leaving hangup - near"])
      yield* Rig.pass(200)
      expect(Rig.words(rig.told())).toEqual(["ended hangup - near"])
      yield* Rig.pass(60_000)
      expect(rig.told()).toEqual([])
      expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )

  it.effect("ends by a BYE of the peer, which is answered only when that is committed", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      yield* rig.hold(true)
      const bye = within(invite, "BYE", 7)
      yield* rig.deliver(bye)
      yield* rig.deliver(bye)
      expect(Rig.words(rig.told())).toEqual(["ended hangup - far"])
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toEqual(["200"])
      yield* rig.deliver(bye)
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )
})

describe("what is not committed", () => {
  it.effect("is told again under its number, and a BYE is answered only then", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      rig.broken = true
      yield* rig.deliver(within(invite, "BYE", 7))
      yield* rig.deliver({ ...within(invite, "BYE", 8) })
      yield* Rig.pass(40_000)
      expect(rig.sent()).toEqual([])
      rig.broken = false
      yield* Rig.pass(8_000)
      const told = rig.told()
      expect(Rig.words(told)).toEqual(["ended hangup - far"])
      expect(told[0]).toMatchObject({ n: 3 })
      expect(Rig.names(rig.sent())).toEqual(["200", "200"])
      yield* Rig.pass(60_000)
      expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )

  it.effect("is a digit that came by INFO: its 200 waits too", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(30_000, "a=sendrecv", "0") }))
      rig.sent()
      rig.broken = true
      const relay = new TextEncoder().encode("Signal=5\r\nDuration=160\r\n")
      yield* rig.deliver(within(invite, "INFO", 7, { type: "application/dtmf-relay", body: relay }))
      expect(rig.sent()).toEqual([])
      rig.broken = false
      yield* Rig.pass(1_000)
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )

  it.effect("does not hold up what a leg has to tell for ever, but the end", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      rig.broken = true
      rig.hear("svc_leg_1", { type: "dtmf", digit: "7", at: 0 })
      yield* rig.deliver(within(invite, "BYE", 7))
      yield* Rig.pass(100_000)
      rig.broken = false
      yield* Rig.pass(8_000)
      expect(Rig.words(rig.told())).toEqual(["ended hangup - far"])
    })
  )
})

describe("a leg that no call owns", () => {
  it.effect("gets the 200 to its BYE", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      rig.disowned = true
      yield* rig.deliver(within(invite, "BYE", 7))
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )

  it.effect("is hung up as soon as it is heard of", () =>
    Effect.gen(function* () {
      const { rig } = yield* answered()
      rig.disowned = true
      rig.hear("svc_leg_1", { type: "dtmf", digit: "7", at: 0 })
      yield* Effect.yieldNow
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "BYE"), 200))
      yield* Rig.pass(60_000)
      expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )
})

describe("a branch that rings", () => {
  const ringing = Effect.fnUntraced(function* () {
    const all = yield* dialled()
    yield* all.rig.deliver(Rig.reply(all.invite, 183, { body: Rig.sdpBody(30_000, "a=sendrecv", "0") }))
    all.rig.told()
    return all
  })

  it.effect("has a dialog, in which the called party is heard", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* ringing()
      for (const [at, method] of ["OPTIONS", "UPDATE", "INVITE", "BYE", "NOTIFY", "JUMP"].entries())
        yield* rig.deliver(within(invite, method, 7 + at))
      expect(Rig.names(rig.sent())).toEqual(["200", "405", "491", "481", "481", "501"])
      yield* rig.deliver(within(invite, "OPTIONS", 3))
      expect(Rig.names(rig.sent())).toEqual(["500"])
      yield* rig.deliver(ok(invite))
      expect(Rig.words(rig.told())).toEqual(["answered"])
    })
  )

  it.effect("brings a digit by INFO, which is answered when that is committed", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* ringing()
      yield* rig.hold(true)
      const digit = { type: "application/dtmf", body: new TextEncoder().encode("7") }
      yield* rig.deliver(within(invite, "INFO", 7, digit))
      expect(Rig.words(rig.told())).toEqual(["dtmf 7"])
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )

  it.effect("is forgotten with the leg, and when another branch answers", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* ringing()
      yield* rig.deliver(ok(invite, "carol"))
      rig.sent()
      yield* rig.deliver(within(invite, "OPTIONS", 7))
      expect(Rig.names(rig.sent())).toEqual(["481"])
    })
  )

  it.effect("is heard when it described last, and when it answers", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* ringing()
      yield* rig.deliver(Rig.reply(invite, 183, { toTag: "carol", body: Rig.sdpBody(30_002) }))
      expect(rig.connections().map(({ port }) => port)).toEqual([30_000, 30_002])
      yield* rig.deliver(Rig.reply(invite, 200))
      expect(rig.connections().map(({ port }) => port)).toEqual([30_000, 30_002, 30_000])
      expect(Rig.words(rig.told())).toEqual(["answered"])
    })
  )

  it.effect("answers for itself: what another branch said is not its answer", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* ringing()
      yield* rig.deliver(Rig.reply(invite, 200, { toTag: "carol" }))
      expect(Rig.names(rig.sent())).toEqual(["ACK", "BYE"])
    })
  )

  it.effect("counts up to a bound", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* ringing()
      for (let count = 0; count < 100; count++) yield* rig.deliver(Rig.reply(invite, 183, { toTag: `branch${count}` }))
      expect((yield* rig.stats).dialogs).toBe(16)
    })
  )
})

describe("hanging up before the answer", () => {
  it.effect("ends at once while nothing was sent", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.unreachable = true
      yield* rig.command(Rig.dial)
      yield* rig.command(Rig.hangup)
      yield* Rig.pass(1)
      expect(Rig.words(rig.told())).toEqual(["ended cancelled - near"])
    })
  )

  it.effect("waits for a provisional response before it cancels (RFC 3261 section 9.1)", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.command(Rig.hangup)
      expect(rig.sent()).toEqual([])
      yield* rig.deliver(Rig.reply(invite, 100))
      const cancel = Rig.requestOf(rig.sent(), "CANCEL")
      expect(header(cancel, "Via")).toBe(header(invite, "Via"))
      yield* rig.deliver(Rig.reply(cancel, 200))
      yield* rig.deliver(Rig.reply(invite, 487))
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 487 near"])
    })
  )

  it.effect("does not take up a challenge that crosses it", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.trunk = { ...Rig.trunk, username: "alice", password: "secret" }
      yield* rig.command(Rig.dial)
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      yield* rig.command(Rig.hangup)
      const challenge = ["WWW-Authenticate", `Digest realm="trunk", nonce="n"`] as const
      yield* rig.deliver(Rig.reply(invite, 401, { headers: [challenge] }))
      expect(Rig.names(rig.sent())).toEqual(["ACK"])
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 401 near"])
    })
  )

  it.effect("takes down a call that is answered across the CANCEL", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.deliver(Rig.reply(invite, 180))
      yield* rig.command(Rig.hangup)
      yield* rig.deliver(ok(invite))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["CANCEL", "ACK", "BYE"])
      yield* rig.deliver(Rig.reply(Rig.requestOf(sent, "BYE"), 200))
      expect(Rig.words(rig.told())).toEqual(["ringing", "leaving cancelled - near", "ended cancelled - near"])
    })
  )

  for (const [what, answer] of [
    ["answered across the CANCEL", ok],
    [
      "answered without a common codec",
      (invite: SipRequest) => Rig.reply(invite, 200, { body: Rig.sdpBody(30_000, "a=rtpmap:18 G729/8000", "18") })
    ]
  ] as const)
    it.effect(`acknowledges a call that is ${what} when its dialog is stored, which a restart needs`, () =>
      Effect.gen(function* () {
        const { invite, rig } = yield* dialled()
        if (answer === ok) {
          yield* rig.deliver(Rig.reply(invite, 180))
          yield* rig.command(Rig.hangup)
        }
        rig.sent()
        rig.told()
        yield* rig.hold(true)
        yield* rig.deliver(answer(invite))
        yield* rig.deliver(answer(invite))
        expect(rig.told()).toMatchObject([{ type: "leaving", resume: { kind: "dialog", remoteTag: "bob" } }])
        expect(rig.sent()).toEqual([])
        yield* rig.hold(false)
        expect(Rig.names(rig.sent())).toEqual(["ACK", "BYE"])
        yield* Rig.pass(1_000)
        expect(rig.told()).toEqual([])
      })
    )

  it.effect("sends the BYE behind the ACK when it comes while the answer is being committed", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.hold(true)
      yield* rig.deliver(ok(invite))
      yield* rig.command(Rig.hangup)
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toEqual(["ACK", "BYE"])
    })
  )

  it.effect("ends within eight seconds though the peer is silent, and takes down a late answer", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.command(Rig.hangup)
      yield* Rig.pass(8_000)
      expect(Rig.words(rig.told())).toEqual(["ended cancelled - near"])
      rig.sent()
      yield* rig.deliver(ok(invite))
      expect(Rig.names(rig.sent())).toEqual(["ACK", "BYE"])
      yield* rig.deliver(ok(invite))
      expect(Rig.names(rig.sent())).toEqual(["ACK"])
      expect(rig.told()).toEqual([])
    })
  )
})

describe("an answer", () => {
  it.effect("of a second branch gets ACK and BYE, the first goes on", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      yield* rig.deliver(ok(invite, "carol"))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["ACK", "BYE"])
      expect(header(Rig.requestOf(sent, "BYE"), "To")).toContain("tag=carol")
      expect(rig.told()).toEqual([])
      expect(yield* rig.presence(Ids.leg("svc_leg_1"))).toBe("alive")
    })
  )

  it.effect("without a common codec is acknowledged and hung up", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(30_000, "a=rtpmap:18 G729/8000", "18") }))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["ACK", "BYE"])
      yield* rig.deliver(Rig.reply(Rig.requestOf(sent, "BYE"), 200))
      expect(Rig.words(rig.told())).toEqual(["leaving error - network", "ended error - network"])
    })
  )

  it.effect("that cannot be committed is not acknowledged until a repetition is", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      rig.broken = true
      yield* rig.deliver(ok(invite))
      yield* Rig.pass(2_000)
      expect(rig.faults).toBeGreaterThan(1)
      expect(rig.sent()).toEqual([])
      rig.broken = false
      yield* Rig.pass(4_000)
      expect(Rig.words(rig.told())).toEqual(["answered"])
      expect(Rig.names(rig.sent())).toEqual(["ACK"])
    })
  )

  it.effect("that cannot be committed at all is acknowledged and hung up", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      rig.broken = true
      yield* rig.deliver(ok(invite))
      yield* Rig.pass(15_600)
      expect(Rig.names(rig.sent())).toEqual(["ACK", "BYE"])
    })
  )
})

describe("within a dialog", () => {
  it.effect("a re-INVITE that holds is answered in the same leg, and its repetition gets the same answer", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      const hold = within(invite, "INVITE", 7, { body: Rig.sdp(30_002, "a=sendonly") })
      yield* rig.deliver(hold)
      const response = Rig.responseOf(rig.sent(), 200)
      expect(new TextDecoder().decode(response.body)).toContain("a=recvonly")
      expect(rig.connections().at(-1)).toMatchObject({ port: 30_002, direction: "recvonly" })
      yield* Rig.pass(500)
      expect(Rig.names(rig.sent())).toEqual(["200"])
      yield* rig.deliver(within(invite, "ACK", 7))
      yield* Rig.pass(10_000)
      expect(rig.sent()).toEqual([])
      expect(rig.told()).toEqual([])
    })
  )

  it.effect("a re-INVITE without a common codec gets 488 and changes nothing", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      const before = rig.connections().length
      yield* rig.deliver(within(invite, "INVITE", 7, { body: Rig.sdp(30_002, "a=rtpmap:18 G729/8000", "18") }))
      expect(Rig.names(rig.sent())).toEqual(["488"])
      expect(rig.connections()).toHaveLength(before)
    })
  )

  it.effect("a re-INVITE without an offer gets ours, and its ACK brings the answer", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      yield* rig.deliver(within(invite, "INVITE", 7))
      expect(new TextDecoder().decode(Rig.responseOf(rig.sent(), 200).body)).toContain("m=audio 40002")
      yield* rig.deliver(within(invite, "INVITE", 8, { body: Rig.sdp() }))
      expect(Rig.names(rig.sent())).toEqual(["491"])
      yield* rig.deliver(within(invite, "ACK", 7, { body: Rig.sdp(30_004) }))
      expect(rig.connections().at(-1)).toMatchObject({ port: 30_004 })
    })
  )

  it.effect("a re-INVITE while our INVITE has no ACK gets 491", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.hold(true)
      yield* rig.deliver(ok(invite))
      yield* rig.deliver(within(invite, "INVITE", 7, { body: Rig.sdp() }))
      expect(Rig.names(rig.sent())).toEqual(["491"])
    })
  )

  it.effect("a 2xx to a re-INVITE without ACK ends the call after 64*T1", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      yield* rig.deliver(within(invite, "INVITE", 7, { body: Rig.sdp() }))
      yield* Rig.pass(32_000)
      const sent = rig.sent()
      expect(Rig.names(sent)).toContain("BYE")
      yield* rig.deliver(Rig.reply(Rig.requestOf(sent, "BYE"), 200))
      expect(Rig.words(rig.told())).toEqual(["leaving timer - network", "ended timer - network"])
    })
  )

  const refused: ReadonlyArray<readonly [method: string, status: string]> = [
    ["OPTIONS", "200"],
    ["UPDATE", "405"],
    ["REFER", "405"],
    ["SUBSCRIBE", "405"],
    ["JUMP", "501"]
  ]
  for (const [method, status] of refused)
    it.effect(`${method} gets ${status}`, () =>
      Effect.gen(function* () {
        const { invite, rig } = yield* answered()
        yield* rig.deliver(within(invite, method, 7))
        const sent = rig.sent()
        expect(Rig.names(sent)).toEqual([status])
        expect(header(Rig.responseOf(sent, Number(status)), "Allow")).toContain("BYE")
      })
    )

  const relay = new TextEncoder().encode("Signal=5\r\nDuration=160\r\n")

  it.effect("INFO brings a digit where RTP brings none", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(30_000, "a=sendrecv", "0") }))
      rig.sent()
      rig.told()
      yield* rig.deliver(within(invite, "INFO", 7, { type: "application/dtmf-relay", body: relay }))
      yield* rig.deliver(within(invite, "INFO", 8, { type: "text/plain", body: relay }))
      expect(Rig.names(rig.sent())).toEqual(["200", "415"])
      expect(Rig.words(rig.told())).toEqual(["dtmf 5"])
    })
  )

  it.effect("INFO brings the digit where telephone events are agreed but the peer sends no RTP", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      yield* rig.deliver(within(invite, "INVITE", 7, { body: Rig.sdp(30_000, "a=recvonly") }))
      yield* rig.deliver(within(invite, "ACK", 7))
      rig.sent()
      yield* rig.deliver(within(invite, "INFO", 8, { type: "application/dtmf-relay", body: relay }))
      expect(Rig.words(rig.told())).toEqual(["dtmf 5"])
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )

  it.effect("two INFOs in flight are answered in their order, each when its digit is committed", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(30_000, "a=sendrecv", "0") }))
      rig.sent()
      rig.told()
      yield* rig.hold(true)
      const digit = (text: string) => ({ type: "application/dtmf", body: new TextEncoder().encode(text) })
      yield* rig.deliver(within(invite, "INFO", 7, digit("1")))
      yield* rig.deliver(within(invite, "INFO", 8, digit("2")))
      expect(Rig.words(rig.told())).toEqual(["dtmf 1"])
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.words(rig.told())).toEqual(["dtmf 2"])
      expect(rig.sent().map(({ message }) => header(message, "CSeq"))).toEqual(["7 INFO", "8 INFO"])
    })
  )

  it.effect("INFO brings the digit where telephone events are agreed and the peer sends none", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      yield* rig.deliver(within(invite, "INFO", 7, { type: "application/dtmf-relay", body: relay }))
      expect(Rig.words(rig.told())).toEqual(["dtmf 5"])
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )

  it.effect("INFO brings no digit twice: not one that RTP has brought, nor does RTP bring it to the media again", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      rig.packetDigits = "5"
      rig.hear("svc_leg_1", { type: "dtmf", digit: "5", at: 0 })
      yield* rig.deliver(within(invite, "INFO", 7, { type: "application/dtmf-relay", body: relay }))
      expect(Rig.names(rig.sent())).toEqual(["200"])
      expect(Rig.words(rig.told())).toEqual(["dtmf 5"])
      expect(rig.media.filter(([what]) => what === "press")).toEqual([["press", "svc_leg_1", "5"]])
    })
  )

  it.effect("a re-INVITE from another Contact renews what a restart needs", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      const moved = within(invite, "INVITE", 7, { body: Rig.sdp() })
      yield* rig.deliver({
        ...moved,
        headers: moved.headers.map(([name, value]) =>
          name === "Contact" ? [name, "<sip:bob@192.0.2.2:5099>"] : [name, value]
        )
      })
      expect(rig.told()).toMatchObject([{ type: "answered", resume: { remoteTarget: "sip:bob@192.0.2.2:5099" } }])
    })
  )

  const movedTo = (request: SipRequest, uri: string): SipRequest => ({
    ...request,
    headers: request.headers.map(([name, value]) => (name === "Contact" ? [name, `<${uri}>`] : [name, value]))
  })

  it.effect("a re-INVITE that is refused does not move the target, and its number counts (section 12.2.2)", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      const refused = within(invite, "INVITE", 7, { body: Rig.sdp(30_002, "a=rtpmap:18 G729/8000", "18") })
      yield* rig.deliver(movedTo(refused, "sip:bob@192.0.2.2:5099"))
      yield* rig.deliver(within(invite, "OPTIONS", 6))
      expect(Rig.names(rig.sent())).toEqual(["488", "500"])
      expect(rig.told()).toEqual([])
      yield* rig.command(Rig.hangup)
      expect(Rig.requestOf(rig.sent(), "BYE").uri).toBe("sip:bob@192.0.2.2:5062")
    })
  )

  it.effect("a re-INVITE that gets 491 does not move the target either", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled()
      yield* rig.hold(true)
      yield* rig.deliver(ok(invite))
      yield* rig.deliver(movedTo(within(invite, "INVITE", 7, { body: Rig.sdp() }), "sip:bob@192.0.2.2:5099"))
      expect(Rig.names(rig.sent())).toEqual(["491"])
      yield* rig.hold(false)
      expect(Rig.requestOf(rig.sent(), "ACK").uri).toBe("sip:bob@192.0.2.2:5062")
    })
  )

  it.effect("NOTIFY without a subscription gets 481 (RFC 6665 section 4.1.3)", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      const notify = within(invite, "NOTIFY", 7)
      const event = [
        ["Event", "refer"],
        ["Subscription-State", "active;expires=60"]
      ] as const
      yield* rig.deliver({ ...notify, headers: [...notify.headers, ...event] })
      expect(Rig.names(rig.sent())).toEqual(["481"])
    })
  )

  it.effect("a request out of order gets 500", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      yield* rig.deliver(within(invite, "OPTIONS", 7))
      yield* rig.deliver(within(invite, "BYE", 6))
      expect(Rig.names(rig.sent())).toEqual(["200", "500"])
      expect(rig.told()).toEqual([])
    })
  )

  it.effect("BYEs that cross are both answered, and the leg ends once", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered()
      yield* rig.command(Rig.hangup)
      yield* rig.deliver(within(invite, "BYE", 7))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["BYE", "200"])
      yield* rig.deliver(Rig.reply(Rig.requestOf(sent, "BYE"), 481))
      expect(Rig.words(rig.told())).toEqual(["ended hangup - near"])
    })
  )
})

describe("the media of a leg", () => {
  it.effect("gets what the call asks and tells the call what it tells, both as they are", () =>
    Effect.gen(function* () {
      const { rig } = yield* answered()
      const asked = [
        Media.play(Ids.work("p1"), "https://example.com/a.wav", 2),
        Media.dtmf(Ids.work("d1"), "12#"),
        Media.stopPlayback
      ]
      for (const media of asked)
        yield* rig.command({
          ...Rig.of,
          commandId: Ids.command(media.type),
          type: "media",
          tenantId: Ids.tenant("tenant"),
          media
        })
      expect(rig.media.slice(-3)).toEqual(asked.map((media) => ["command", "svc_leg_1", media]))
      const told: ReadonlyArray<MediaEvent> = [{ type: "dtmf", digit: "7", at: 0 }, Media.stopped(Ids.work("p1"))]
      for (const event of told) rig.hear("svc_leg_1", event)
      expect(rig.told().map((event) => event.type === "media" && event.event)).toEqual(told)
    })
  )

  it.effect("that falls silent ends the call", () =>
    Effect.gen(function* () {
      const { rig } = yield* answered()
      rig.lose("svc_leg_1")
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "BYE"), 200))
      expect(Rig.words(rig.told())).toEqual(["leaving error - network", "ended error - network"])
    })
  )

  it.effect("of a leg that is not there fails by an event", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.command({
        ...Rig.of,
        commandId: Ids.command("m1"),
        type: "media",
        tenantId: Ids.tenant("tenant"),
        media: Media.dtmf(Ids.work("d1"), "1")
      })
      expect(Rig.words(rig.told())).toEqual(["command_failed m1 unknown_leg"])
    })
  )
})
