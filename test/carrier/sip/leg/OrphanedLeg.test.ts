/** Legs of a process that was killed, taken down by the next one. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { DialOrigin, Json } from "../../../../src/carrier/Carrier.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import { header, type SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

const origin: DialOrigin = {
  dialId: Ids.command("dial-1"),
  routeId: Ids.route("svc_route_1"),
  from: "+12025550150",
  to: "+4930123456"
}

const hangup = (resume: Json, from: DialOrigin | null = origin) =>
  ({ ...Rig.of, commandId: Ids.command("h"), type: "hangup", origin: from, resume }) as const

/** The INVITE of a process that then dies, and the last resume value that it reported. */
const killed = Effect.fnUntraced(function* (until: "called" | "ringing" | "answered") {
  const rig = yield* Rig.make("first")
  yield* rig.command(Rig.dial)
  const invite = Rig.requestOf(rig.sent(), "INVITE")
  if (until !== "called") yield* rig.deliver(Rig.reply(invite, 180))
  if (until === "answered") yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
  const last = rig.told().at(-1)
  return { invite, resume: last !== undefined && "resume" in last ? last.resume : null }
})

const same = (a: SipRequest, b: SipRequest, names: ReadonlyArray<string>) =>
  expect(names.map((name) => header(a, name))).toEqual(names.map((name) => header(b, name)))

describe("a lost outbound leg", () => {
  it.effect("that was answered gets its BYE, with a higher CSeq", () =>
    Effect.gen(function* () {
      const { resume } = yield* killed("answered")
      const rig = yield* Rig.make("second")
      yield* rig.command(hangup(resume))
      const bye = Rig.requestOf(rig.sent(), "BYE")
      expect(Rig.cseqOf(bye)).toBeGreaterThan(100)
      yield* rig.deliver(Rig.reply(bye, 200))
      expect(Rig.words(rig.told())).toEqual(["ended lost - network"])
    })
  )

  it.effect("that rang is cancelled, and the 487 acknowledged", () =>
    Effect.gen(function* () {
      const { invite, resume } = yield* killed("ringing")
      const rig = yield* Rig.make("second")
      yield* rig.command(hangup(resume))
      const cancel = Rig.requestOf(rig.sent(), "CANCEL")
      same(cancel, invite, ["Via", "From", "To", "Call-ID"])
      yield* rig.deliver(Rig.reply(cancel, 200))
      yield* rig.deliver(Rig.reply(invite, 487))
      expect(Rig.names(rig.sent())).toEqual(["ACK"])
      expect(Rig.words(rig.told())).toEqual(["ended lost - network"])
    })
  )

  it.effect("of which only the dial is known is cancelled under the identity derived from it", () =>
    Effect.gen(function* () {
      const { invite } = yield* killed("called")
      const rig = yield* Rig.make("second")
      yield* rig.command(hangup(null))
      const cancel = Rig.requestOf(rig.sent(), "CANCEL")
      same(cancel, invite, ["Via", "From", "To", "Call-ID"])
      expect(cancel.uri).toBe(invite.uri)
    })
  )

  it.effect("is cancelled in every attempt that a challenge may have brought", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("second")
      rig.trunk = { ...Rig.trunk, username: "alice", password: "secret" }
      yield* rig.command(hangup(null))
      expect(rig.sent().map(({ message }) => Rig.cseqOf(message))).toEqual([1, 2, 3])
    })
  )

  it.effect("that is answered all the same gets ACK and BYE", () =>
    Effect.gen(function* () {
      const { invite } = yield* killed("called")
      const rig = yield* Rig.make("second")
      yield* rig.command(hangup(null))
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "CANCEL"), 481))
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["ACK", "BYE"])
      yield* rig.deliver(Rig.reply(Rig.requestOf(sent, "BYE"), 200))
      expect(Rig.words(rig.told())).toEqual(["leaving lost - network", "ended lost - network"])
    })
  )

  it.effect(
    "that is answered all the same is acknowledged when its dialog is stored, so the next process sends BYE",
    () =>
      Effect.gen(function* () {
        const { invite } = yield* killed("called")
        const rig = yield* Rig.make("second")
        yield* rig.command(hangup(null))
        rig.sent()
        yield* rig.hold(true)
        const answer = Rig.reply(invite, 200, { body: Rig.sdpBody() })
        yield* rig.deliver(answer)
        yield* rig.deliver(answer)
        const told = rig.told()
        expect(Rig.words(told)).toEqual(["leaving lost - network"])
        expect(rig.sent()).toEqual([])

        // The second process dies here, and the peer has its ACK or repeats its answer.
        const third = yield* Rig.make("third")
        const [leaving] = told
        yield* third.command(hangup(leaving?.type === "leaving" ? (leaving.resume ?? null) : null))
        const bye = Rig.requestOf(third.sent(), "BYE")
        expect(header(bye, "To")).toBe(header(answer, "To"))

        yield* rig.hold(false)
        expect(Rig.names(rig.sent())).toEqual(["ACK", "BYE"])
        yield* rig.deliver(answer)
        expect(Rig.names(rig.sent())).toEqual(["ACK"])
      })
  )

  it.effect("that is answered while nothing can be stored gets ACK and BYE when that is given up", () =>
    Effect.gen(function* () {
      const { invite } = yield* killed("called")
      const rig = yield* Rig.make("second")
      yield* rig.command(hangup(null))
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "CANCEL"), 200))
      rig.broken = true
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
      yield* Rig.pass(15_600)
      expect(Rig.names(rig.sent())).toEqual(["ACK", "BYE"])
    })
  )

  for (const until of ["called", "ringing", "answered"] as const)
    it.effect(`that was ${until} ends within eight seconds of silence`, () =>
      Effect.gen(function* () {
        const { resume } = yield* killed(until)
        const rig = yield* Rig.make("second")
        yield* rig.command(hangup(resume))
        yield* Rig.pass(8_000)
        expect(Rig.words(rig.told())).toEqual(["ended lost - network"])
        yield* Rig.pass(60_000)
        expect(rig.told()).toEqual([])
        expect(yield* rig.stats).toMatchObject(Rig.nothing)
      })
    )

  it.effect("of which nothing is known ends at once", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("second")
      yield* rig.command(hangup(null, null))
      yield* rig.command({ ...hangup({ some: "thing" }, null), legId: Ids.leg("svc_leg_2") })
      expect(Rig.words(rig.told())).toEqual(["ended lost - network", "ended lost - network"])
    })
  )
})

const invite = Rig.invite()

describe("a lost inbound leg", () => {
  const resumed = Effect.fnUntraced(function* () {
    const first = yield* Rig.make("first")
    yield* first.deliver(invite)
    const rig = yield* Rig.make("second")
    yield* rig.command({
      ...Rig.of,
      commandId: Ids.command("r"),
      type: "reject",
      cause: "error",
      resume: first.offers[0]?.resume ?? null
    })
    return rig
  })

  it.effect("that waited gets its final answer", () =>
    Effect.gen(function* () {
      const rig = yield* resumed()
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["500"])
      yield* rig.deliver(Requests.ackFailure(invite, Rig.responseOf(sent, 500)))
      expect(Rig.words(rig.told())).toEqual(["ended lost - network"])
      yield* Rig.pass(60_000)
      expect(rig.sent()).toEqual([])
    })
  )

  it.effect("that had been answered, and so does not acknowledge a refusal, gets a BYE", () =>
    Effect.gen(function* () {
      const rig = yield* resumed()
      yield* Rig.pass(1_000)
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "BYE"), 200))
      expect(Rig.words(rig.told())).toEqual(["ended lost - network"])
    })
  )
})

describe("a leg that a process with another address left", () => {
  const headers = [
    ["Via", "SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKold;rport"],
    ["From", "<sip:+12025550150@192.0.2.1>;tag=us"],
    ["To", "<sip:+4930123456@192.0.2.2>"],
    ["Call-ID", "old-1"],
    ["CSeq", "1 INVITE"]
  ] as const
  const peer = { address: "192.0.2.2", port: 5062 }
  const flow = { transport: "udp", local: { address: "0.0.0.0", port: 5060 }, remote: peer }
  const dialog = {
    version: 2,
    kind: "dialog",
    callId: "old-1",
    localTag: "us",
    remoteTag: "them",
    local: "<sip:+12025550150@192.0.2.1>",
    remote: "<sip:+4930123456@192.0.2.2>",
    remoteTarget: "sip:bob@phone.example.net",
    routeSet: [],
    contact: "<sip:+12025550150@192.0.2.1:5060>",
    localCSeq: 1,
    flow
  }
  const unanswered = { version: 2, uri: "sip:+4930123456@192.0.2.2", headers, localTag: "us", flow }
  for (const [what, stored, sent] of [
    ["answered gets its BYE", dialog, "BYE"],
    ["rang is cancelled", { ...unanswered, kind: "calling" }, "CANCEL"],
    ["was offered is refused", { ...unanswered, kind: "ringing" }, "480"]
  ] as const)
    it.effect(`and ${what}, where its packets went`, () =>
      Effect.gen(function* () {
        const rig = yield* Rig.make()
        yield* rig.command(hangup(JSON.parse(JSON.stringify(stored)), null))
        const all = rig.sent()
        expect(Rig.names(all)).toEqual([sent])
        expect(all.map(({ to }) => to)).toEqual([peer])
      })
    )
})
