import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as DialogResume from "../../../../src/protocol/sip/dialog/DialogResume.ts"
import * as MessageKey from "../../../../src/protocol/sip/message/MessageKey.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import { header, headers, type Header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const hop: Requests.Hop = { sentBy: "192.0.2.1:5060", branch: "z9hG4bKnext" }
const invite = SipSample.request("INVITE", { cseq: 7, headers: [["Proxy-Authorization", "Digest x"]] })

const recorded = (...routes: ReadonlyArray<string>) =>
  SipSample.request("INVITE", { headers: routes.map((route): Header => ["Record-Route", route]) })

const present = <A>(value: A | null): A => {
  if (value === null) throw new Error("absent")
  return value
}

const called = (request = invite) =>
  present(Dialog.fromRequest(request, { localTag: "bob", contact: "<sip:bob@192.0.2.2:5062>", cseq: 100 }))
const calling = (status: number, more: Responses.Options = {}, request = invite) =>
  Dialog.fromResponse(request, SipSample.response(request, status, more))

describe("caller", () => {
  it("has an early dialog for each To tag that rings", () => {
    const first = present(calling(180, { toTag: "fork-1" }))
    const second = present(calling(183, { toTag: "fork-2" }))
    expect([first.phase, second.phase]).toEqual(["early", "early"])
    expect(Dialog.id(first)).not.toBe(Dialog.id(second))
    expect(Dialog.id(first)).toBe(Dialog.id(present(calling(200, { toTag: "fork-1" }))))
  })

  it("has no dialog of a 100, of a provisional without tag, or of a failure", () => {
    expect(calling(100)).toBeNull()
    expect(Dialog.fromResponse(invite, Responses.make(invite, 180))).toBeNull()
    expect(calling(486)).toBeNull()
  })

  it("reverses Record-Route and takes the Contact as target", () => {
    const dialog = present(calling(200, {}, recorded("<sip:p1;lr>, <sip:p2;lr>", "<sip:p3;lr>")))
    expect(dialog.routeSet).toEqual(["<sip:p3;lr>", "<sip:p2;lr>", "<sip:p1;lr>"])
    expect(dialog.remoteTarget).toBe("sip:bob@192.0.2.2:5062")
  })

  it("takes route set and target anew from the 2xx, and later only the target", () => {
    const early = present(calling(180, { contact: "<sip:early@192.0.2.9>" }))
    const answer = Responses.make(recorded("<sip:p1;lr>"), 200, { toTag: "bob", contact: "<sip:late@192.0.2.9>" })
    const confirmed = Dialog.succeeded(early, answer)
    expect(confirmed).toMatchObject({
      phase: "confirmed",
      routeSet: ["<sip:p1;lr>"],
      remoteTarget: "sip:late@192.0.2.9"
    })
    const refreshed = Dialog.succeeded(confirmed, SipSample.response(invite, 200, { contact: "<sip:moved@192.0.2.9>" }))
    expect(refreshed).toMatchObject({ routeSet: ["<sip:p1;lr>"], remoteTarget: "sip:moved@192.0.2.9" })
  })

  it("acknowledges with the number and credentials of the INVITE, and again for each repeated 2xx", () => {
    const answer = SipSample.response(invite, 200)
    const dialog = present(calling(200))
    expect(Dialog.acknowledged(dialog, answer)).toBeNull()
    const built = Dialog.acknowledge(dialog, invite, hop)
    expect(built.request).toMatchObject({ method: "ACK", uri: "sip:bob@192.0.2.2:5062" })
    expect(header(built.request, "CSeq")).toBe("7 ACK")
    expect(header(built.request, "Proxy-Authorization")).toBe("Digest x")
    expect(header(built.request, "Via")).toContain("branch=z9hG4bKnext")
    expect(Dialog.acknowledged(built.dialog, answer)).toBe(built.request)
    const other = Responses.make(SipSample.request("INVITE", { cseq: 8 }), 200)
    expect(Dialog.acknowledged(built.dialog, other)).toBeNull()
    expect(header(Dialog.request(built.dialog, "BYE", hop).request, "CSeq")).toBe("8 BYE")
  })
})

describe("called party", () => {
  it("keeps Record-Route in order and answers under the peer's id", () => {
    const dialog = called(recorded("<sip:p1;lr>", "<sip:p2;lr>"))
    expect(dialog.routeSet).toEqual(["<sip:p1;lr>", "<sip:p2;lr>"])
    expect(dialog.remoteTarget).toBe("sip:alice@192.0.2.1:5060")
    expect(Dialog.accepted(dialog).phase).toBe("confirmed")
    const bye = SipSample.request("BYE", { cseq: 2, to: "<sip:bob@192.0.2.2>;tag=bob" })
    expect(MessageKey.dialogOfRequest(bye)).toBe(Dialog.id(dialog))
  })

  it("writes its own requests from its side", () => {
    const { request, dialog } = Dialog.request(called(), "BYE", { ...hop, sentBy: "192.0.2.2:5062" })
    expect(request).toMatchObject({ method: "BYE", uri: "sip:alice@192.0.2.1:5060" })
    expect(header(request, "From")).toBe("<sip:bob@192.0.2.2>;tag=bob")
    expect(header(request, "To")).toBe('"Alice" <sip:alice@192.0.2.1>;tag=alice')
    expect(header(request, "CSeq")).toBe("101 BYE")
    expect(header(request, "Contact")).toBeNull()
    expect(dialog.localCSeq).toBe(101)
  })

  it("refuses a request that is older than one it has seen, section 12.2.2", () => {
    const within = (cseq: number, method = "INFO") =>
      SipSample.request(method, { cseq, to: "<sip:bob@192.0.2.2>;tag=bob" })
    const after = Dialog.receive(called(), within(9))
    expect(after.verdict).toBe("inOrder")
    expect(Dialog.receive(after.dialog, within(8))).toEqual({ verdict: "outOfOrder", dialog: after.dialog })
    expect(Dialog.receive(after.dialog, within(9))).toEqual({ verdict: "repeated", dialog: after.dialog })
    expect(Dialog.receive(after.dialog, within(7, "ACK")).verdict).toBe("inOrder")
    expect(Dialog.receive(after.dialog, within(900)).dialog.remoteCSeq).toBe(900)
  })

  it("moves its target when a request that refreshes it is accepted, and not when it comes", () => {
    const moved = { cseq: 9, contact: "<sip:alice@198.51.100.1>", to: "<sip:bob@192.0.2.2>;tag=bob" }
    const invite = SipSample.request("INVITE", moved)
    const received = Dialog.receive(called(), invite).dialog
    expect(received.remoteTarget).toBe("sip:alice@192.0.2.1:5060")
    expect(Dialog.refreshed(received, invite).remoteTarget).toBe("sip:alice@198.51.100.1")
  })
})

describe("routing, section 12.2.1.1", () => {
  it("goes by loose routers with the target as Request-URI", () => {
    const dialog = called(recorded("<sip:p1;lr>", "<sip:p2;lr>"))
    const { request } = Dialog.request(dialog, "INVITE", hop)
    expect(request.uri).toBe("sip:alice@192.0.2.1:5060")
    expect(headers(request, "Route")).toEqual(["<sip:p1;lr>", "<sip:p2;lr>"])
    expect(Dialog.nextHop(dialog)).toBe("sip:p1;lr")
    expect(header(request, "Contact")).toBe("<sip:bob@192.0.2.2:5062>")
  })

  it("goes first to the strict router, also where a loose one stands behind it", () => {
    const dialog = called(recorded("<sip:192.0.2.7>", "<sip:192.0.2.8;lr>"))
    const { request } = Dialog.request(dialog, "BYE", hop)
    expect(request.uri).toBe("sip:192.0.2.7")
    expect(headers(request, "Route")).toEqual(["<sip:192.0.2.8;lr>", "<sip:alice@192.0.2.1:5060>"])
    expect(Dialog.nextHop(dialog)).toBe("sip:192.0.2.7")
  })

  it("puts a strict router into the Request-URI and the target last", () => {
    const dialog = called(recorded("<sip:p1;method=INVITE?a=b>", "<sip:p2>"))
    const { request } = Dialog.request(dialog, "BYE", hop)
    expect(request.uri).toBe("sip:p1")
    expect(headers(request, "Route")).toEqual(["<sip:p2>", "<sip:alice@192.0.2.1:5060>"])
    expect(Dialog.nextHop(dialog)).toBe("sip:p1")
  })
})

describe("resume", () => {
  const flow = SipSample.flow({ address: "192.0.2.2", port: 5062 })
  const stored = (resume: DialogResume.DialogResume): unknown => JSON.parse(JSON.stringify(resume))

  it("brings back what a BYE needs, with a gap in CSeq", () => {
    const dialog = present(calling(200, {}, recorded("<sip:p1;lr>")))
    const resume = Result.getOrThrow(DialogResume.decode(stored(DialogResume.fromDialog(dialog, flow))))
    if (resume.kind !== "dialog") throw new Error("not a dialog")
    expect(DialogResume.flowOf(resume)).toEqual(flow)
    const { request } = Dialog.request(DialogResume.toDialog(resume), "BYE", hop)
    const live = Dialog.request(dialog, "BYE", hop).request
    expect(header(request, "CSeq")).toBe("1002 BYE")
    expect({ ...request, headers: request.headers.filter(([name]) => name !== "CSeq") }).toEqual({
      ...live,
      headers: live.headers.filter(([name]) => name !== "CSeq")
    })
  })

  it("brings back what a CANCEL needs, and not the session description", () => {
    const sent = SipSample.request("INVITE", { body: { type: "application/sdp", bytes: new Uint8Array(900) } })
    const resume = Result.getOrThrow(DialogResume.decode(stored(DialogResume.calling(sent, flow))))
    if (resume.kind !== "calling") throw new Error("not calling")
    expect(Requests.cancel(DialogResume.toInvite(resume))).toEqual(Requests.cancel(sent))
    expect(JSON.stringify(resume).length).toBeLessThan(700)
  })

  it("brings back what a refusal needs", () => {
    const resume = Result.getOrThrow(DialogResume.decode(stored(DialogResume.ringing(invite, "bob", flow))))
    if (resume.kind !== "ringing") throw new Error("not ringing")
    const options = { toTag: resume.localTag }
    expect(Responses.make(DialogResume.toInvite(resume), 480, options)).toEqual(Responses.make(invite, 480, options))
  })

  it("holds the way of the call with our own address, and no connection of a process that is no more", () => {
    const connected = { ...flow, transport: "tcp", connection: "c1" } as const
    const resume = DialogResume.fromDialog(present(calling(200)), connected)
    expect(resume.flow).toEqual({ transport: "tcp", local: flow.local, remote: flow.remote })
    const read = Result.getOrThrow(DialogResume.decode(stored(resume)))
    expect(DialogResume.flowOf(read)).toEqual({ ...connected, connection: null })
  })

  it("refuses what it does not know", () => {
    const good = DialogResume.fromDialog(called(), flow)
    for (const bad of [null, 7, {}, { ...good, version: 3 }, { ...good, localCSeq: "1" }, { ...good, flow: undefined }])
      expect(Result.isFailure(DialogResume.decode(bad))).toBe(true)
  })
})
