/** The credentials of all requests to one trunk: which are sent at once, and how the count of a nonce continues. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { CarrierCommand } from "../../../../src/carrier/Carrier.ts"
import * as Digest from "../../../../src/protocol/sip/Digest.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import { header, type Header, type SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

const login = { ...Rig.trunk, username: "alice", password: "secret" }

const challenge = (nonce: string, more = ""): Header => [
  "WWW-Authenticate",
  `Digest realm="trunk", nonce="${nonce}", qop="auth"${more}`
]

/** The nonce and the count of a request; null when it has no credentials. */
const used = (request: SipRequest): string | null => {
  const value = header(request, "Authorization")
  if (value === null) return null
  const given = Result.getOrThrow(Digest.parseCredentials(value))
  expect(Digest.verify(given, Digest.ha1("MD5", "alice", "trunk", "secret"), request.method)).toBe(true)
  expect(given.uri).toBe(request.uri)
  return `${given.nonce} ${given.protection?.count ?? "-"}`
}

const dialAs = (name: string): Extract<CarrierCommand, { readonly type: "dial" }> => ({
  ...Rig.dial,
  commandId: Ids.command(`dial ${name}`),
  callId: Ids.call(`call ${name}`),
  legId: Ids.leg(`leg ${name}`)
})

const hangup = ({ callId, legId }: Pick<CarrierCommand, "callId" | "legId">): CarrierCommand => ({
  type: "hangup",
  commandId: Ids.command(`hangup ${legId}`),
  callId,
  legId,
  origin: null,
  resume: null
})

const refer = ({ callId, legId }: Pick<CarrierCommand, "callId" | "legId">): CarrierCommand => ({
  type: "refer",
  commandId: Ids.command(`refer ${legId}`),
  callId,
  legId,
  to: "sip:+12025550170@192.0.2.9",
  headers: []
})

/** A trunk whose first challenge has the nonce `n1`, and its first call, which was answered. */
const answered = Effect.gen(function* () {
  const rig = yield* Rig.make()
  rig.trunk = login
  const first = dialAs("first")
  yield* rig.command(first)
  const bare = Rig.requestOf(rig.sent(), "INVITE")
  expect(used(bare)).toBe(null)
  yield* rig.deliver(Rig.reply(bare, 401, { headers: [challenge("n1")] }))
  const invite = Rig.requestOf(rig.sent(), "INVITE")
  expect(used(invite)).toBe("n1 1")
  yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
  const ack = Rig.requestOf(rig.sent(), "ACK")
  expect(header(ack, "Authorization")).toBe(header(invite, "Authorization"))
  rig.told()
  return { rig, first, invite }
})

describe("a trunk that has challenged us", () => {
  it.effect("gets credentials with each later request of the call at once, and each counts on", () =>
    Effect.gen(function* () {
      const { first, rig } = yield* answered
      yield* rig.command(refer(first))
      const referred = Rig.requestOf(rig.sent(), "REFER")
      expect(used(referred)).toBe("n1 2")
      yield* rig.deliver(Rig.reply(referred, 603))
      yield* rig.command(hangup(first))
      expect(used(Rig.requestOf(rig.sent(), "BYE"))).toBe("n1 3")
    })
  )

  it.effect("gets them with its next call at once, which goes on counting, as do their BYEs", () =>
    Effect.gen(function* () {
      const { first, rig } = yield* answered
      const second = dialAs("second")
      yield* rig.command(second)
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      expect([used(invite), Rig.cseqOf(invite)]).toEqual(["n1 2", 1])
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
      expect(used({ ...Rig.requestOf(rig.sent(), "ACK"), method: "INVITE", uri: invite.uri })).toBe("n1 2")
      yield* rig.command(hangup(first))
      expect(used(Rig.requestOf(rig.sent(), "BYE"))).toBe("n1 3")
      yield* rig.command(hangup(second))
      expect(used(Rig.requestOf(rig.sent(), "BYE"))).toBe("n1 4")
    })
  )

  it.effect("gets them with the BYE of a call that it placed", () =>
    Effect.gen(function* () {
      const { rig } = yield* answered
      yield* rig.deliver(Rig.invite())
      const of = Rig.ofOffered(rig)
      yield* rig.command({ ...of, commandId: Ids.command("answer"), type: "answer" })
      const response = Rig.responseOf(rig.sent(), 200)
      const to = header(response, "To") ?? ""
      yield* rig.deliver(Rig.invite({ method: "ACK", branch: "z9hG4bKack", to }))
      yield* rig.command(hangup(of))
      expect(used(Rig.requestOf(rig.sent(), "BYE"))).toBe("n1 2")
    })
  )

  for (const [what, more, value] of [
    ["another nonce that says stale", ", stale=true", "n2 1"],
    ["another nonce that says nothing", "", "n2 1"],
    ["the same nonce", "", "n1 3"]
  ] as const)
    it.effect(`gets an answer where it challenges a request with credentials by ${what}`, () =>
      Effect.gen(function* () {
        const { first, rig } = yield* answered
        yield* rig.command(hangup(first))
        const bye = Rig.requestOf(rig.sent(), "BYE")
        expect(used(bye)).toBe("n1 2")
        const nonce = value.slice(0, 2)
        yield* rig.deliver(Responses.make(bye, 401, { headers: [challenge(nonce, more)] }))
        const again = Rig.requestOf(rig.sent(), "BYE")
        expect([used(again), Rig.cseqOf(again)]).toEqual([value, Rig.cseqOf(bye) + 1])
        yield* rig.deliver(Responses.make(again, 200))
        yield* rig.command(dialAs("next"))
        const [, count] = value.split(" ")
        expect(used(Rig.requestOf(rig.sent(), "INVITE"))).toBe(`${nonce} ${Number(count) + 1}`)
      })
    )

  it.effect("that refuses the password gets the next call without credentials", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.trunk = login
      yield* rig.command(dialAs("first"))
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "INVITE"), 401, { headers: [challenge("n1")] }))
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "INVITE"), 401, { headers: [challenge("n2")] }))
      expect(Rig.words(rig.told())).toEqual(["ended final_response 401 far"])
      rig.sent()
      yield* rig.command(dialAs("second"))
      expect(used(Rig.requestOf(rig.sent(), "INVITE"))).toBe(null)
    })
  )

  it.effect("with another password from now on gets the next call without credentials", () =>
    Effect.gen(function* () {
      const { rig } = yield* answered
      rig.trunk = { ...login, password: "changed" }
      yield* rig.command(dialAs("second"))
      expect(used(Rig.requestOf(rig.sent(), "INVITE"))).toBe(null)
    })
  )

  it.effect("gets them with the BYE of a branch that answers too late", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* answered
      yield* rig.deliver(Rig.reply(invite, 200, { toTag: "fork", body: Rig.sdpBody() }))
      expect(used(Rig.requestOf(rig.sent(), "BYE"))).toBe("n1 2")
    })
  )

  it.effect("gets the BYE of the next process without credentials, and again with an answer to its challenge", () =>
    Effect.gen(function* () {
      const { first, rig } = yield* answered
      yield* rig.deliver(Rig.invite())
      const of = Rig.ofOffered(rig)
      yield* rig.command({ ...of, commandId: Ids.command("answer"), type: "answer" })
      const to = header(Rig.responseOf(rig.sent(), 200), "To") ?? ""
      yield* rig.deliver(Rig.invite({ method: "ACK", branch: "z9hG4bKack", to }))
      const answer = rig.told().findLast((event) => event.type === "answered")
      const resume = answer !== undefined && "resume" in answer ? answer.resume : null
      const next = yield* Rig.make("next")
      next.trunk = login
      const origin = { dialId: first.commandId, routeId: first.routeId, from: first.from, to: first.to }
      yield* next.command({ ...hangup(of), type: "hangup", origin, resume })
      const bye = Rig.requestOf(next.sent(), "BYE")
      expect(used(bye)).toBe(null)
      yield* next.deliver(Responses.make(bye, 401, { headers: [challenge("n9")] }))
      expect(used(Rig.requestOf(next.sent(), "BYE"))).toBe("n9 1")
    })
  )
})

describe("Supported, RFC 3261 sections 13.2.1 and 13.3.1.4,", () => {
  it.effect("is in INVITE and in its 2xx, also within a call", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.command(Rig.dial)
      expect(header(Rig.requestOf(rig.sent(), "INVITE"), "Supported")).toBe("")
      yield* rig.deliver(Rig.invite())
      const of = Rig.ofOffered(rig)
      yield* rig.command({ ...of, commandId: Ids.command("answer"), type: "answer" })
      const response = Rig.responseOf(rig.sent(), 200)
      expect(header(response, "Supported")).toBe("")
      const to = header(response, "To") ?? ""
      yield* rig.deliver(Rig.invite({ method: "ACK", branch: "z9hG4bKack", to }))
      yield* rig.deliver(Rig.invite({ branch: "z9hG4bKre", to, cseq: 2 }))
      expect(header(Rig.responseOf(rig.sent(), 200), "Supported")).toBe("")
    })
  )
})
