import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { CarrierCommand } from "../../../../../src/carrier/Carrier.ts"
import * as Dialog from "../../../../../src/protocol/sip/dialog/Dialog.ts"
import * as Requests from "../../../../../src/protocol/sip/message/Requests.ts"
import { header, type SipRequest, type SipResponse } from "../../../../../src/protocol/sip/message/SipMessage.ts"
import * as Ids from "../../../../support/Ids.ts"
import * as Rig from "../../Rig.ts"

const invite = (more: Partial<Requests.Fields> = {}): SipRequest =>
  Rig.invite({ from: '"Bob" <sip:+4930123456@192.0.2.2>;tag=bob', ...more })

const offered = Effect.fnUntraced(function* (request = invite()) {
  const rig = yield* Rig.make("in")
  yield* rig.deliver(request)
  const sent = rig.sent()
  const of = Rig.ofOffered(rig)
  return { rig, sent, legId: of.legId, of, request }
})

/** A request of the caller in the dialog that our response made. */
const within = (request: SipRequest, response: SipResponse, method: string, body?: Uint8Array): SipRequest => {
  const dialog = Dialog.fromResponse(request, response)
  if (dialog === null) return expect.fail("no dialog")
  const hop = { sentBy: "192.0.2.2:5062", branch: `z9hG4bKin-${method}` }
  const extras = body === undefined ? {} : { body: { type: "application/sdp", bytes: body } }
  return method === "ACK"
    ? Dialog.acknowledge(dialog, request, hop, extras).request
    : Dialog.request(dialog, method, hop, extras).request
}

const ack = (request: SipRequest, response: SipResponse) => Requests.ackFailure(request, response)

const answered = Effect.fnUntraced(function* () {
  const all = yield* offered()
  const { of, request, rig } = all
  yield* rig.command({ ...of, type: "answer" })
  const response = Rig.responseOf(rig.sent(), 200)
  yield* rig.deliver(within(request, response, "ACK"))
  rig.told()
  return { ...all, response }
})

describe("an inbound leg", () => {
  it.effect("gets 100 at once and is offered with its number, its caller and the routes of its trunk", () =>
    Effect.gen(function* () {
      const { rig, sent } = yield* offered()
      expect(Rig.names(sent)).toEqual(["100"])
      expect(rig.offers).toMatchObject([
        { adapter: "sip", from: "+4930123456", to: "+12025550150", source: "192.0.2.2" }
      ])
      yield* rig.deliver(invite())
      expect(rig.offers).toHaveLength(1)
    })
  )

  it.effect("is answered in the operator's first codec that it offers, and refused without one", () =>
    Effect.gen(function* () {
      const wide = yield* Rig.make("wide", undefined, undefined, ["G722", "PCMU"])
      const narrow = yield* Rig.make("narrow", undefined, undefined, ["PCMU", "PCMA"])
      const request = (formats: string) => invite({ body: Rig.sdpBody(30_000, "a=sendrecv", formats) })
      yield* wide.deliver(request("8 0 9 101"))
      yield* wide.command({ ...Rig.ofOffered(wide), type: "answer" })
      const answer = new TextDecoder().decode(Rig.responseOf(wide.sent(), 200).body)
      expect(answer).toContain("RTP/AVP 9 101\r\na=rtpmap:9 G722/8000\r\n")
      expect(wide.connections()).toMatchObject([{ codec: "G722", audio: { send: 9, receive: 9 } }])
      yield* narrow.deliver(request("9 101"))
      expect(Rig.names(narrow.sent())).toEqual(["100", "488"])
    })
  )

  it.effect("is refused with 403 from a stranger, without an offer", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.deliver(invite(), { address: "198.51.100.9", port: 5060 })
      expect(Rig.names(rig.sent())).toEqual(["403"])
      expect(rig.offers).toEqual([])
    })
  )

  it.effect("is refused with 404 when neither Request-URI nor To is a number", () =>
    Effect.gen(function* () {
      const { rig, sent } = yield* offered(invite({ uri: "sip:sales@192.0.2.1", to: "<sip:sales@192.0.2.1>" }))
      expect(Rig.names(sent)).toEqual(["100", "404"])
      expect(rig.offers).toEqual([])
    })
  )

  it.effect("that came by two paths is refused with 482 on the second", () =>
    Effect.gen(function* () {
      const { rig } = yield* offered()
      yield* rig.deliver(invite({ branch: "z9hG4bKother" }))
      expect(Rig.names(rig.sent())).toEqual(["482"])
    })
  )

  const causes = [
    ["not_found", 404],
    ["user_busy", 486],
    ["rejected", 603],
    ["unavailable", 503],
    ["error", 500]
  ] as const
  for (const [cause, status] of causes)
    it.effect(`that is not admitted (${cause}) is refused with ${status} and leaves nothing behind`, () =>
      Effect.gen(function* () {
        const rig = yield* Rig.make()
        rig.admission = { admitted: false, cause }
        yield* rig.deliver(invite())
        const sent = rig.sent()
        expect(Rig.names(sent)).toEqual(["100", String(status)])
        yield* rig.deliver(ack(invite(), Rig.responseOf(sent, status)))
        expect(rig.told()).toEqual([])
        yield* Rig.pass(60_000)
        expect(yield* rig.stats).toMatchObject(Rig.nothing)
      })
    )

  it.effect("rings, is answered, repeats its 200 until the ACK, and only then tells of the answer", () =>
    Effect.gen(function* () {
      const { legId, of, request, rig } = yield* offered()
      yield* rig.command({ ...of, commandId: Ids.command("ring"), type: "ring" })
      expect(Rig.names(rig.sent())).toEqual(["180"])
      yield* rig.command({ ...of, type: "answer" })
      yield* rig.command({ ...of, type: "answer" })
      const response = Rig.responseOf(rig.sent(), 200)
      expect(new TextDecoder().decode(response.body)).toContain("m=audio 40002 RTP/AVP 0 101")
      expect(rig.connections()).toMatchObject([
        { address: "192.0.2.2", port: 30_000, signallingAddress: Rig.peer.address }
      ])
      yield* Rig.pass(500)
      expect(Rig.names(rig.sent())).toEqual(["200"])
      expect(rig.told()).toEqual([])
      yield* rig.deliver(within(request, response, "ACK"))
      yield* rig.deliver(within(request, response, "ACK"))
      expect(Rig.words(rig.told())).toEqual(["answered"])
      yield* Rig.pass(60_000)
      expect(rig.sent()).toEqual([])
      expect(yield* rig.presence(legId)).toBe("alive")
    })
  )

  it.effect("is answered with an offer when the INVITE had none, and the ACK brings the answer", () =>
    Effect.gen(function* () {
      const bare = Requests.make({
        method: "INVITE",
        uri: "sip:+12025550150@192.0.2.1",
        sentBy: "192.0.2.2:5062",
        branch: "z9hG4bKbare",
        from: "<sip:+4930123456@192.0.2.2>;tag=bob",
        to: "<sip:+12025550150@192.0.2.1>",
        callId: "bare",
        cseq: 1,
        contact: "<sip:bob@192.0.2.2:5062>"
      })
      const { of, rig } = yield* offered(bare)
      yield* rig.command({ ...of, type: "answer" })
      const response = Rig.responseOf(rig.sent(), 200)
      yield* rig.deliver(within(bare, response, "ACK", Rig.sdp(30_010)))
      expect(rig.connections()).toMatchObject([{ port: 30_010 }])
      expect(Rig.words(rig.told())).toEqual(["answered"])
    })
  )

  const unacceptable = [
    ["without a common codec", Rig.sdpBody(30_000, "a=rtpmap:18 G729/8000", "18"), 488],
    ["that cannot be read", { type: "application/sdp", bytes: new TextEncoder().encode("v=0\r\n") }, 400]
  ] as const
  for (const [what, body, status] of unacceptable)
    it.effect(`with an offer ${what} is refused with ${status} before anybody is asked`, () =>
      Effect.gen(function* () {
        const request = invite({ body })
        const { rig, sent } = yield* offered(request)
        expect(Rig.names(sent)).toEqual(["100", String(status)])
        expect(header(Rig.responseOf(sent, status), "Warning")).toMatch(/^399 192\.0\.2\.1 ".+"$/)
        expect(rig.offers).toEqual([])
        yield* rig.deliver(ack(request, Rig.responseOf(sent, status)))
        yield* Rig.pass(60_000)
        expect(rig.told()).toEqual([])
        expect(yield* rig.stats).toMatchObject(Rig.nothing)
      })
    )

  it.effect("hangs up when its 200 is never acknowledged", () =>
    Effect.gen(function* () {
      const { of, rig } = yield* offered()
      yield* rig.command({ ...of, type: "answer" })
      yield* Rig.pass(32_000)
      const sent = rig.sent()
      yield* rig.deliver(Rig.reply(Rig.requestOf(sent, "BYE"), 200))
      expect(Rig.words(rig.told())).toEqual(["leaving timer - network", "ended timer - network"])
      yield* Rig.pass(60_000)
      expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )

  const refusals: ReadonlyArray<readonly [CarrierCommand["type"], string, number]> = [
    ["hangup", "", 480],
    ["reject", "user_busy", 486],
    ["reject", "rejected", 603],
    ["reject", "no_answer", 480],
    ["reject", "not_found", 404],
    ["reject", "error", 500]
  ]
  for (const [type, cause, status] of refusals)
    it.effect(`ends by ${type} ${cause} with ${status} when that is acknowledged`, () =>
      Effect.gen(function* () {
        const { of, request, rig } = yield* offered()
        const command = (
          type === "hangup"
            ? { ...of, type, origin: null, resume: null }
            : { ...of, type: "reject", cause, resume: null }
        ) as CarrierCommand
        yield* rig.command(command)
        yield* rig.command(command)
        const sent = rig.sent()
        expect(Rig.names(sent)).toEqual([String(status)])
        expect(rig.told()).toEqual([])
        yield* rig.deliver(ack(request, Rig.responseOf(sent, status)))
        expect(Rig.words(rig.told())).toEqual([`ended final_response ${status} near`])
      })
    )

  it.effect("is hung up with BYE, after its ACK", () =>
    Effect.gen(function* () {
      const { of, request, rig } = yield* offered()
      yield* rig.command({ ...of, type: "answer" })
      const response = Rig.responseOf(rig.sent(), 200)
      yield* rig.command({ ...of, commandId: Ids.command("hangup"), type: "hangup", origin: null, resume: null })
      expect(rig.sent()).toEqual([])
      yield* rig.deliver(within(request, response, "ACK"))
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "BYE"), 200))
      expect(Rig.words(rig.told())).toEqual(["ended hangup - near"])
    })
  )

  it.effect("ends by BYE of the caller", () =>
    Effect.gen(function* () {
      const { request, response, rig } = yield* answered()
      yield* rig.deliver(within(request, response, "BYE"))
      expect(Rig.words(rig.told())).toEqual(["ended hangup - far"])
      expect(Rig.names(rig.sent())).toEqual(["200"])
      yield* Rig.pass(60_000)
      expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )
})

describe("an INVITE that expires (RFC 3261 section 13.3.1)", () => {
  const expiring = () => offered(invite({ headers: [["Expires", "20"]] }))

  it.effect("gets 487 when that is committed", () =>
    Effect.gen(function* () {
      const { rig } = yield* expiring()
      yield* Rig.pass(19_999)
      expect(rig.told()).toEqual([])
      yield* rig.hold(true)
      yield* Rig.pass(1)
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 487 far"])
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toEqual(["487"])
    })
  )

  it.effect("gets it too where nothing else happens to the call, and where it has not been admitted yet", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.admission = { admitted: true, callId: "svc_call_in", routeId: null } as typeof rig.admission
      yield* rig.deliver(invite({ headers: [["Expires", "0"]] }))
      yield* Rig.pass(1)
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 487 far"])
      expect(Rig.names(rig.sent())).toEqual(["100", "487"])
      yield* rig.hold(true)
      yield* rig.deliver(invite({ branch: "z9hG4bKin2", callId: "in-2", headers: [["Expires", "5"]] }))
      yield* Rig.pass(5_000)
      yield* rig.hold(false)
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 487 far"])
      expect(Rig.names(rig.sent())).toContain("487")
    })
  )

  it.effect("does not once it is answered or refused", () =>
    Effect.gen(function* () {
      const { of, request, rig } = yield* expiring()
      yield* rig.command({ ...of, type: "answer" })
      yield* rig.deliver(within(request, Rig.responseOf(rig.sent(), 200), "ACK"))
      yield* Rig.pass(30_000)
      expect(Rig.words(rig.told())).toEqual(["answered"])
      const other = yield* offered(invite({ headers: [["Expires", "5"]] }))
      yield* other.rig.command({ ...other.of, type: "reject", cause: "user_busy", resume: null })
      yield* Rig.pass(7_000)
      expect(Rig.names(other.rig.sent())).not.toContain("487")
    })
  )
})

describe("CANCEL", () => {
  it.effect("is answered at once, the INVITE with 487 when that is committed", () =>
    Effect.gen(function* () {
      const { request, rig } = yield* offered()
      yield* rig.hold(true)
      yield* rig.deliver(Requests.cancel(request))
      expect(Rig.names(rig.sent())).toEqual(["200"])
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 487 far"])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toEqual(["487"])
    })
  )

  it.effect("before the admission ends the leg once it is admitted", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.hold(true)
      yield* rig.deliver(invite())
      yield* rig.deliver(Requests.cancel(invite()))
      expect(Rig.names(rig.sent())).toEqual(["100", "200"])
      expect(rig.told()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 487 far"])
      expect(Rig.names(rig.sent())).toEqual(["487"])
    })
  )

  it.effect("of a leg that is then not admitted gets 487 for its INVITE, not the cause", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.admission = { admitted: false, cause: "user_busy" }
      yield* rig.hold(true)
      yield* rig.deliver(invite())
      yield* rig.deliver(Requests.cancel(invite()))
      yield* rig.hold(false)
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["100", "200", "487"])
      yield* rig.deliver(ack(invite(), Rig.responseOf(sent, 487)))
      yield* Rig.pass(60_000)
      expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )

  it.effect("after the answer changes nothing", () =>
    Effect.gen(function* () {
      const { of, request, rig } = yield* offered()
      yield* rig.command({ ...of, type: "answer" })
      const response = Rig.responseOf(rig.sent(), 200)
      yield* rig.deliver(Requests.cancel(request))
      yield* rig.deliver(within(request, response, "ACK"))
      expect(Rig.words(rig.told())).toEqual(["answered"])
    })
  )

  it.effect("of an unknown INVITE gets 481", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.deliver(Requests.cancel(invite()))
      expect(Rig.names(rig.sent())).toEqual(["481"])
    })
  )
})

describe("within an early dialog of a caller", () => {
  const relay = { type: "application/dtmf-relay", bytes: new TextEncoder().encode("Signal=5\r\nDuration=160\r\n") }

  /** A request of the caller after it has received 180. */
  const early = Effect.fnUntraced(function* () {
    const all = yield* offered()
    yield* all.rig.command({ ...all.of, commandId: Ids.command("ring"), type: "ring" })
    const ringing = Rig.responseOf(all.rig.sent(), 180)
    const asked = (method: string, cseq: number, body?: Requests.Body) => {
      const dialog = Dialog.fromResponse(all.request, ringing)
      if (dialog === null) return expect.fail("no dialog")
      const hop = { sentBy: "192.0.2.2:5062", branch: `z9hG4bK${method}${cseq}` }
      return Dialog.request({ ...dialog, localCSeq: cseq - 1 }, method, hop, body === undefined ? {} : { body }).request
    }
    return { ...all, asked }
  })

  it.effect("INFO brings a digit, and is answered when that is committed", () =>
    Effect.gen(function* () {
      const { asked, rig } = yield* early()
      yield* rig.hold(true)
      yield* rig.deliver(asked("INFO", 2, relay))
      expect(Rig.words(rig.told())).toEqual(["dtmf 5"])
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )

  it.effect("INFOs before the admission wait for it, and keep their order", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("in")
      yield* rig.hold(true)
      yield* rig.deliver(invite())
      yield* Rig.pass(200)
      const tag = /"localTag":"([0-9a-f]+)"/.exec(JSON.stringify(rig.offers[0]?.resume))?.[1]
      const digit = (cseq: number, signal: string) =>
        Requests.make({
          method: "INFO",
          uri: "sip:+12025550150@192.0.2.1",
          sentBy: "192.0.2.2:5062",
          branch: `z9hG4bKinfo${cseq}`,
          from: '"Bob" <sip:+4930123456@192.0.2.2>;tag=bob',
          to: `<sip:+12025550150@192.0.2.1>;tag=${tag}`,
          callId: "in-1",
          cseq,
          body: { type: "application/dtmf", bytes: new TextEncoder().encode(signal) }
        })
      rig.sent()
      yield* rig.deliver(digit(2, "1"))
      yield* rig.deliver(digit(3, "2"))
      expect(rig.told()).toEqual([])
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.words(rig.told())).toEqual(["dtmf 1", "dtmf 2"])
      expect(rig.sent().map(({ message }) => header(message, "CSeq"))).toEqual(["2 INFO", "3 INFO"])
    })
  )

  it.effect("BYE ends the call, and is answered with the INVITE when that is committed (section 15)", () =>
    Effect.gen(function* () {
      const { asked, rig } = yield* early()
      yield* rig.hold(true)
      yield* rig.deliver(asked("BYE", 2))
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 487 far"])
      expect(rig.sent()).toEqual([])
      yield* rig.hold(false)
      expect(Rig.names(rig.sent())).toEqual(["200", "487"])
    })
  )

  it.effect("a second INVITE gets 500 with Retry-After, what is out of order 500, the rest by the table", () =>
    Effect.gen(function* () {
      const { asked, rig } = yield* early()
      yield* rig.deliver(asked("INVITE", 4))
      const retry = Rig.responseOf(rig.sent(), 500)
      expect(Number(header(retry, "Retry-After"))).toBeLessThanOrEqual(10)
      yield* rig.deliver(asked("OPTIONS", 3))
      for (const [at, method] of ["OPTIONS", "UPDATE", "NOTIFY", "JUMP"].entries())
        yield* rig.deliver(asked(method, 5 + at))
      expect(Rig.names(rig.sent())).toEqual(["500", "200", "405", "481", "501"])
    })
  )
})

describe("outside a dialog", () => {
  const bare = (method: string) => Requests.make({ ...base, method })
  const base = {
    uri: "sip:192.0.2.1",
    sentBy: "192.0.2.2:5062",
    branch: "z9hG4bKout",
    from: "<sip:bob@192.0.2.2>;tag=bob",
    to: "<sip:192.0.2.1>",
    callId: "out",
    cseq: 1
  }
  for (const [method, status] of [
    ["OPTIONS", "200"],
    ["BYE", "481"],
    ["REGISTER", "405"],
    ["MESSAGE", "405"],
    ["JUMP", "501"]
  ] as const)
    it.effect(`${method} gets ${status}`, () =>
      Effect.gen(function* () {
        const rig = yield* Rig.make()
        yield* rig.deliver(bare(method))
        expect(Rig.names(rig.sent())).toEqual([status])
      })
    )

  it.effect("a request of a dialog that is not here gets 481", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.deliver(Requests.make({ ...base, method: "INVITE", to: "<sip:192.0.2.1>;tag=gone" }))
      expect(Rig.names(rig.sent())).toEqual(["481"])
    })
  )

  it.effect("OPTIONS gets what an INVITE would get where there is no room for another leg", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("full", undefined, undefined, undefined, 1)
      yield* rig.deliver(bare("OPTIONS"))
      yield* rig.deliver(invite())
      yield* rig.deliver(invite({ branch: "z9hG4bKin2", callId: "in-2" }))
      yield* rig.deliver(Requests.make({ ...base, method: "OPTIONS", branch: "z9hG4bKagain", callId: "again" }))
      expect(Rig.names(rig.sent())).toEqual(["200", "100", "503", "503"])
    })
  )

  it.effect("calls of one address leave room for those of others and for ours, and give it back", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("flood", undefined, undefined, undefined, 10)
      const other = { address: "192.0.2.9", port: 5062 }
      yield* rig.know([Rig.peer.address, other.address])
      const numbered = (at: number) => invite({ branch: `z9hG4bKflood${at}`, callId: `flood-${at}` })
      for (let at = 0; at < 20; at++) yield* rig.deliver(numbered(at))
      expect(rig.offers).toHaveLength(6)
      expect(Rig.names(rig.sent()).filter((name) => name === "503")).toHaveLength(14)
      yield* rig.deliver(Requests.make({ ...base, method: "OPTIONS", branch: "z9hG4bKhere", callId: "here" }))
      yield* rig.deliver(Requests.make({ ...base, method: "OPTIONS", branch: "z9hG4bKthere", callId: "there" }), other)
      expect(Rig.names(rig.sent())).toEqual(["503", "200"])
      yield* rig.deliver(numbered(100), other)
      expect(rig.offers).toHaveLength(7)
      yield* rig.command(Rig.dial)
      expect(Rig.names(rig.sent())).toContain("INVITE")
      for (let at = 0; at < 6; at++) yield* rig.deliver(Requests.cancel(numbered(at)))
      yield* rig.deliver(numbered(101))
      expect(rig.offers).toHaveLength(8)
    })
  )

  it.effect("a carrier that drains refuses calls with 503 and says so to OPTIONS; its calls go on", () =>
    Effect.gen(function* () {
      const { legId, request, response, rig } = yield* answered()
      yield* rig.drain
      yield* rig.deliver(invite({ branch: "z9hG4bKlate", callId: "late" }))
      yield* rig.deliver(bare("OPTIONS"))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["503", "503"])
      expect(header(Rig.responseOf(sent.slice(0, 1), 503), "Retry-After")).toBe("5")
      expect(yield* rig.presence(legId)).toBe("alive")
      yield* rig.deliver(within(request, response, "BYE"))
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )
})
