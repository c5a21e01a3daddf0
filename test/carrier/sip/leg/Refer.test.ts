import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { CarrierCommand } from "../../../../src/carrier/Carrier.ts"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import type * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import { header, headers, type SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

const refer: CarrierCommand = {
  ...Rig.of,
  commandId: Ids.command("refer-1"),
  type: "refer",
  to: "sip:+12025550170@192.0.2.9;user=phone",
  headers: [{ name: "X-Case", value: "7" }]
}

const notify = (
  state: string,
  line: string,
  event = "refer"
): Requests.Extras & { readonly headers: Requests.Extras["headers"] } => ({
  headers: [
    ["Event", event],
    ["Subscription-State", state]
  ],
  body: { type: "message/sipfrag;version=2.0", bytes: new TextEncoder().encode(line) }
})

/** An answered leg, placed by either side, and the peer's end of its dialog. */
const talking = Effect.fnUntraced(function* (by: "us" | "peer") {
  const rig = yield* Rig.make(`refer ${by}`)
  let theirs: Dialog.Dialog | null
  let of = Rig.of
  if (by === "us") {
    yield* rig.command(Rig.dial)
    const invite = Rig.requestOf(rig.sent(), "INVITE")
    theirs = Dialog.fromRequest(invite, { localTag: "bob", contact: "<sip:bob@192.0.2.2:5062>", cseq: 6 })
    yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
  } else {
    const invite = Rig.invite()
    yield* rig.deliver(invite)
    of = Rig.ofOffered(rig)
    yield* rig.command({ ...of, commandId: Ids.command("answer"), type: "answer", tenantId: Ids.tenant("t") })
    const response = Rig.responseOf(rig.sent(), 200)
    theirs = Dialog.fromResponse(invite, response)
    if (theirs !== null) {
      const hop = { sentBy: "192.0.2.2:5062", branch: "z9hG4bKack" }
      yield* rig.deliver(Dialog.acknowledge(theirs, invite, hop).request)
    }
  }
  if (theirs === null) return expect.fail("no dialog")
  let dialog = theirs
  rig.sent()
  rig.told()
  let branches = 0
  const ask = (method: string, extras: Requests.Extras = {}) => {
    const hop = { sentBy: "192.0.2.2:5062", branch: `z9hG4bKpeer${++branches}` }
    const built = Dialog.request({ ...dialog, phase: "confirmed" }, method, hop, extras)
    ;({ dialog } = built)
    return rig.deliver(built.request)
  }
  const referred = (more: Partial<Extract<CarrierCommand, { readonly type: "refer" }>> = {}) =>
    rig.command({ ...refer, ...of, commandId: refer.commandId, ...more })
  return { rig, ask, referred, of }
})

const told = (rig: Rig.Rig) => Rig.words(rig.told())

describe("REFER", () => {
  for (const by of ["us", "peer"] as const)
    it.effect(`asks the peer of a leg that ${by} placed to call another, and tells what becomes of it`, () =>
      Effect.gen(function* () {
        const { ask, referred, rig } = yield* talking(by)
        yield* referred()
        const request = Rig.requestOf(rig.sent(), "REFER")
        expect(header(request, "Refer-To")).toBe("<sip:+12025550170@192.0.2.9;user=phone>")
        expect(header(request, "Referred-By")).toContain("@192.0.2.1>")
        expect(headers(request, "X-Case")).toStrictEqual(["7"])
        expect(header(request, "Contact")).toContain("192.0.2.1:5060")
        yield* rig.deliver(Rig.reply(request, 202))
        yield* ask("NOTIFY", notify("active;expires=60", "SIP/2.0 100 Trying\r\n"))
        yield* ask("NOTIFY", notify("active;expires=60", "SIP/2.0 180 Ringing"))
        expect(told(rig)).toStrictEqual(["referred accepted 202"])
        yield* ask("NOTIFY", notify("terminated;reason=noresource", "SIP/2.0 200 OK\r\n"))
        expect(told(rig)).toStrictEqual(["referred completed 200"])
        expect(Rig.names(rig.sent())).toStrictEqual(["200", "200", "200"])
      })
    )

  it.effect("that fails at its target tells the status that the peer got", () =>
    Effect.gen(function* () {
      const { ask, referred, rig } = yield* talking("us")
      yield* referred()
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "REFER"), 202))
      yield* ask("NOTIFY", notify("terminated;reason=noresource", "SIP/2.0 486 Busy Here\r\n"))
      expect(told(rig)).toStrictEqual(["referred accepted 202", "referred failed 486"])
    })
  )

  it.effect("that the peer refuses, or leaves without an answer, has failed, and the leg goes on", () =>
    Effect.gen(function* () {
      const { referred, rig } = yield* talking("us")
      yield* referred()
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "REFER"), 405))
      expect(told(rig)).toStrictEqual(["referred failed 405"])
      yield* referred({ commandId: Ids.command("refer-2") })
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "REFER"), 202))
      yield* Rig.pass(32_000)
      expect(told(rig)).toStrictEqual(["referred accepted 202", "referred failed -"])
      expect(yield* rig.presence(Rig.of.legId)).toBe("alive")
    })
  )

  it.effect("whose subscription ends with a provisional status has failed without one", () =>
    Effect.gen(function* () {
      const { ask, referred, rig } = yield* talking("us")
      yield* referred()
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "REFER"), 202))
      yield* ask("NOTIFY", notify("terminated;reason=timeout", "SIP/2.0 180 Ringing\r\n"))
      expect(told(rig)).toStrictEqual(["referred accepted 202", "referred failed -"])
    })
  )

  it.effect("acknowledges the NOTIFY that ends it when that is stored, not before", () =>
    Effect.gen(function* () {
      const { ask, referred, rig } = yield* talking("us")
      yield* referred()
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "REFER"), 202))
      yield* rig.hold(true)
      yield* ask("NOTIFY", notify("terminated", "SIP/2.0 200 OK"))
      expect(Rig.names(rig.sent())).toStrictEqual([])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toStrictEqual(["200"])
    })
  )

  it.effect("of a peer that hangs up as soon as it is referred tells nothing behind the end", () =>
    Effect.gen(function* () {
      const { ask, referred, rig } = yield* talking("us")
      yield* referred()
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "REFER"), 202))
      yield* rig.hold(true)
      yield* ask("BYE")
      yield* ask("NOTIFY", notify("terminated", "SIP/2.0 200 OK"))
      yield* rig.hold(false)
      yield* Rig.pass(60_000)
      expect(told(rig)).toStrictEqual(["referred accepted 202", "ended hangup - far"])
      expect(Rig.names(rig.sent()).filter((name) => name === "200").length).toBeGreaterThanOrEqual(1)
    })
  )

  it.effect("is not sent before the answer, nor to what is no SIP address", () =>
    Effect.gen(function* () {
      const early = yield* Rig.make("early")
      yield* early.command(Rig.dial)
      early.sent()
      yield* early.command(refer)
      expect(told(early)).toStrictEqual(["command_failed refer-1 not_answered"])
      const { referred, rig } = yield* talking("us")
      for (const to of ["tel:+12025550170", "sip:a@b>;x=<", "sip:a b@c", "sip:a@b\r\nX: y", ""])
        yield* referred({ commandId: Ids.command(`to ${to}`), to })
      expect(told(rig).every((word) => word.endsWith(" invalid_address"))).toBe(true)
      expect(rig.sent()).toStrictEqual([])
    })
  )
})

describe("A tenant's own headers", () => {
  const mine = [
    { name: "X-Case", value: "7" },
    { name: "x-note", value: "a, b; c" }
  ]
  const wrong = [
    { name: "From", value: "<sip:eve@192.0.2.66>" },
    { name: "X-A\r\nContact", value: "1" },
    { name: "X-B", value: "1\r\nContact: <sip:eve@192.0.2.66>" }
  ]
  const own = (request: Parameters<typeof header>[0]) =>
    request.headers.filter(([name]) => name.toLowerCase().startsWith("x-"))

  it.effect("stand on the INVITE of a dial, and what is none of theirs to set does not", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("headers")
      yield* rig.command({ ...Rig.dial, headers: [...mine, ...wrong] })
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      expect(own(invite)).toStrictEqual(mine.map(({ name, value }) => [name, value]))
      expect(headers(invite, "Contact")).toHaveLength(1)
      expect(headers(invite, "From")).toHaveLength(1)
    })
  )

  it.effect("stand on the 200 of an answer, and those of the INVITE come with its offer", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("headers in")
      const own200: ReadonlyArray<readonly [string, string]> = mine.map(({ name, value }) => [name, value])
      const invite = Rig.invite({ headers: [...own200, ["X-Long", "a".repeat(2000)], ["P-Charging-Vector", "x"]] })
      yield* rig.deliver(invite)
      expect(rig.offers[0]?.headers).toStrictEqual(mine)
      yield* rig.command({ ...Rig.ofOffered(rig), type: "answer", headers: [...mine, ...wrong] })
      expect(own(Rig.responseOf(rig.sent(), 200))).toStrictEqual(own200)
    })
  )

  it.effect("of an INVITE that has none are none", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("no headers")
      yield* rig.deliver(Rig.invite())
      expect(rig.offers[0]).not.toHaveProperty("headers")
    })
  )
})

describe("The name of the caller", () => {
  const from = Effect.fnUntraced(function* (callerIdName?: string) {
    const rig = yield* Rig.make("name")
    yield* rig.command({ ...Rig.dial, ...(callerIdName === undefined ? {} : { callerIdName }) })
    const invite: SipRequest = Rig.requestOf(rig.sent(), "INVITE")
    return [header(invite, "From")?.replace(/;tag=.*/, ""), header(invite, "P-Asserted-Identity")]
  })

  it.effect("is the display name of From and P-Asserted-Identity, quoted", () =>
    Effect.gen(function* () {
      const uri = "<sip:+12025550150@192.0.2.1>"
      expect(yield* from("ACME INC")).toStrictEqual([`"ACME INC" ${uri}`, `"ACME INC" ${uri}`])
      expect(yield* from('A "B" \\ <sip:x>')).toStrictEqual(Array(2).fill(`"A \\"B\\" \\\\ <sip:x>" ${uri}`))
      expect(yield* from("A\r\nTo: x\0")).toStrictEqual(Array(2).fill(`"A  To: x" ${uri}`))
      expect(yield* from()).toStrictEqual([uri, uri])
    })
  )
})

describe("The end of a leg", () => {
  const reason = ["Reason", 'Q.850;cause=16;text="Normal call clearing"'] as const
  const peerReason = { protocol: "Q.850", cause: 16, text: "Normal call clearing" }
  const ended = (rig: Rig.Rig) => rig.told().find(({ type }) => type === "ended")

  it.effect("has the Reason that the peer sends with its BYE", () =>
    Effect.gen(function* () {
      const { ask, rig } = yield* talking("us")
      yield* ask("BYE", { headers: [reason] })
      expect(ended(rig)).toMatchObject({ cause: "hangup", by: "far", peerReason })
    })
  )

  it.effect("has that of its final answer, with the status", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("answer")
      yield* rig.command(Rig.dial)
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      yield* rig.deliver(Rig.reply(invite, 503, { headers: [["Reason", "Q.850;cause=34"]] }))
      expect(ended(rig)).toMatchObject({ sipStatus: 503, peerReason: { protocol: "Q.850", cause: 34, text: null } })
    })
  )

  it.effect("has that of its CANCEL", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("cancel")
      const invite = Rig.invite()
      yield* rig.deliver(invite)
      const elsewhere = ["Reason", 'SIP;cause=200;text="Call completed elsewhere"'] as const
      const cancel: SipRequest = {
        ...invite,
        method: "CANCEL",
        headers: [
          ...invite.headers.map(([name, value]) => [name, name === "CSeq" ? "1 CANCEL" : value] as const),
          elsewhere
        ]
      }
      yield* rig.deliver(cancel)
      expect(ended(rig)).toMatchObject({
        cause: "cancelled",
        peerReason: { protocol: "SIP", cause: 200, text: "Call completed elsewhere" }
      })
    })
  )

  it.effect("has none where the peer sends none", () =>
    Effect.gen(function* () {
      const { ask, rig } = yield* talking("peer")
      yield* ask("BYE")
      expect(ended(rig)).not.toHaveProperty("peerReason")
    })
  )
})
