/** A second transport beside UDP, with connections: whole calls, without a change in the machines. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { header, type SipMessage } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/protocol/sip/message/SipParser.ts"
import * as Ids from "../../../support/Ids.ts"
import * as StreamNetwork from "../../../support/network/StreamNetwork.ts"
import * as Rig from "../Rig.ts"

const trunkAt = (host: string, port: number) => ({ ...Rig.trunk, host, port, transport: "tcp" as const })

const pair = Effect.gen(function* () {
  const network = StreamNetwork.make()
  const caller = yield* Rig.make("caller", Rig.self, [network.listen(Rig.self)])
  const callee = yield* Rig.make("callee", Rig.peer, [network.listen(Rig.peer)])
  caller.trunk = trunkAt(Rig.peer.address, Rig.peer.port)
  yield* callee.know([Rig.self.address])
  yield* caller.know([Rig.peer.address])
  return { network, caller, callee }
})

const command = (callee: Rig.Rig, type: "ring" | "answer") =>
  callee.command({ ...Rig.ofOffered(callee), commandId: Ids.command(type), type })

const messages = (written: ReadonlyArray<StreamNetwork.Written>): ReadonlyArray<SipMessage> =>
  written.map(({ text }) => Result.getOrThrow(SipParser.parse(new TextEncoder().encode(text))))

describe("a call over connections", () => {
  it.effect("is placed, rung for half a minute, answered and ended on one connection, each message sent once", () =>
    Effect.gen(function* () {
      const { callee, caller, network } = yield* pair
      yield* caller.command(Rig.dial)
      yield* Rig.pass(30_000)
      yield* command(callee, "answer")
      yield* Rig.pass(60_000)
      expect([Rig.words(caller.told()), Rig.words(callee.told())]).toEqual([["answered"], ["answered"]])
      yield* caller.command(Rig.hangup)
      yield* Rig.pass(1_000)
      expect([Rig.words(caller.told()), Rig.words(callee.told())]).toEqual([
        ["ended hangup - near"],
        ["ended hangup - far"]
      ])
      const written = network.written()
      const all = messages(written)
      expect(all.map(Rig.name)).toEqual(["INVITE", "100", "200", "ACK", "BYE", "200"])
      expect(new Set(written.map(({ connection }) => connection)).size).toBe(1)
      for (const message of all) expect(header(message, "Via")).toContain("SIP/2.0/TCP 192.0.2.1:5060;branch=")
      const [invite, , success] = all
      if (invite?.type !== "request" || success === undefined) throw new Error("no call")
      expect(invite.uri).toBe("sip:+4930123456@192.0.2.2:5062;transport=tcp")
      expect(header(invite, "Contact")).toBe("<sip:+12025550150@192.0.2.1:5060;transport=tcp>")
      expect(header(success, "Contact")).toBe("<sip:+4930123456@192.0.2.2:5062;transport=tcp>")
      // RFC 3261 table 4: nothing is left of the BYE, and of the INVITE only the wait for a repeated 2xx.
      yield* Rig.pass(32_000)
      for (const rig of [caller, callee]) {
        expect(yield* rig.stats).toMatchObject(Rig.nothing)
        expect(rig.sent()).toEqual([])
      }
    })
  )

  it.effect("is refused once, and forgotten with the ACK", () =>
    Effect.gen(function* () {
      const { callee, caller, network } = yield* pair
      callee.admission = { admitted: false, cause: "user_busy" }
      yield* caller.command(Rig.dial)
      yield* Rig.pass(1_000)
      expect(Rig.words(caller.told())).toEqual(["ended final_response 486 far"])
      expect(messages(network.written()).map(Rig.name)).toEqual(["INVITE", "100", "486", "ACK"])
      for (const rig of [caller, callee]) expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )

  it.effect("repeats its 2xx until the ACK comes, RFC 3261 section 13.3.1.4", () =>
    Effect.gen(function* () {
      const { callee, caller, network } = yield* pair
      yield* caller.hold(true)
      yield* caller.command(Rig.dial)
      yield* Rig.pass(0)
      yield* command(callee, "answer")
      yield* Rig.pass(4_000)
      expect(messages(network.written()).map(Rig.name)).toEqual(["INVITE", "100", "200", "200", "200", "200"])
      yield* caller.hold(false)
      yield* Rig.pass(60_000)
      expect(messages(network.written()).map(Rig.name)).toContain("ACK")
    })
  )

  it.effect("goes on by a new connection when its own is cut", () =>
    Effect.gen(function* () {
      const { callee, caller, network } = yield* pair
      yield* caller.command(Rig.dial)
      yield* Rig.pass(0)
      network.cut()
      yield* command(callee, "answer")
      yield* Rig.pass(0)
      expect(Rig.words(caller.told())).toEqual(["answered"])
      expect(network.opened()).toBe(2)
      network.cut()
      yield* callee.command({
        ...Rig.ofOffered(callee),
        commandId: Ids.command("h"),
        type: "hangup",
        origin: null,
        resume: null
      })
      yield* Rig.pass(0)
      expect(Rig.words(caller.told())).toEqual(["ended hangup - far"])
      expect(network.opened()).toBe(3)
    })
  )

  it.effect.each(["ringing", "answered"] as const)(
    "is taken down after a restart by the transport it had: %s",
    (until) =>
      Effect.gen(function* () {
        const { callee, caller, network } = yield* pair
        yield* caller.command(Rig.dial)
        yield* Rig.pass(0)
        yield* command(callee, "ring")
        if (until === "answered") yield* command(callee, "answer")
        yield* Rig.pass(0)
        const told = caller.told().at(-1)
        const resume = told !== undefined && "resume" in told ? told.resume : null
        network.cut()
        const next = yield* Rig.make("next", Rig.self, [network.listen(Rig.self)])
        yield* next.command({ ...Rig.of, commandId: Ids.command("h"), type: "hangup", origin: null, resume })
        yield* Rig.pass(0)
        expect(Rig.words(next.told())).toEqual(["ended lost - network"])
        expect(Rig.words(callee.told()).at(-1)).toBe(
          until === "answered" ? "ended hangup - far" : "ended cancelled 487 far"
        )
        expect(next.sent()).toEqual([])
      })
  )
})

describe("a transport that nobody has", () => {
  it.effect("fails the call as one that no network carries", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      rig.trunk = trunkAt(Rig.peer.address, Rig.peer.port)
      yield* rig.command(Rig.dial)
      yield* Rig.pass(0)
      expect(Rig.words(rig.told())).toEqual(["ended timer - network"])
      expect(rig.sent()).toEqual([])
      yield* Rig.pass(40_000)
      expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )

  it.effect("asked for by a Contact, leaves its call on the flow that it has: ACK and BYE arrive", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.command(Rig.dial)
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      for (const transport of ["tcp", "sctp"]) {
        const contact = `<sip:bob@192.0.2.2:5062;transport=${transport}>`
        yield* rig.deliver(Rig.reply(invite, 200, { contact, body: Rig.sdpBody(), toTag: transport }))
      }
      yield* rig.command(Rig.hangup)
      yield* Rig.pass(0)
      const sent = rig.sent()
      expect(Rig.names(sent).toSorted()).toEqual(["ACK", "ACK", "BYE", "BYE"])
      for (const { message, to } of sent) {
        expect(to).toEqual(Rig.peer)
        if (message.type === "request" && message.method === "BYE") yield* rig.deliver(Rig.reply(message, 200))
      }
      expect(Rig.words(rig.told())).toEqual(["answered", "ended hangup - near"])
      yield* Rig.pass(60_000)
      expect(yield* rig.stats).toMatchObject(Rig.nothing)
    })
  )
})
