/** A peer behind a NAT, whose Contact is its inner address: each request within its calls, in both directions. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NextHop from "../../../../src/carrier/sip/transport/NextHop.ts"
import * as Transports from "../../../../src/carrier/sip/transport/Transports.ts"
import * as SessionMachine from "../../../../src/carrier/sip/session/SessionMachine.ts"
import type { Action, Input } from "../../../../src/carrier/sip/session/SessionState.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as Codecs from "../../../../src/protocol/audio/codec/Codecs.ts"
import * as OfferAnswer from "../../../../src/protocol/sip/sdp/OfferAnswer.ts"
import type * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import type { Endpoint, Header, SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Ids from "../../../support/Ids.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"
import * as Rig from "../Rig.ts"

interface Place {
  readonly name: string
  readonly ours: Endpoint
  /** The address of the NAT, from which the packets of the peer come. */
  readonly outside: Endpoint
  readonly inside: string
}

const places: ReadonlyArray<Place> = [
  {
    name: "IPv4, private",
    ours: Rig.self,
    outside: { address: "203.0.113.10", port: 61_234 },
    inside: "192.168.178.23:5060"
  },
  {
    name: "IPv6, unique local",
    ours: { address: "2001:db8::1", port: 5060 },
    outside: { address: "2001:db8:1::10", port: 61_234 },
    inside: "[fd00:0:0:1::23]:5060"
  }
]

/** A session description of the peer, with its inner address. */
const bodyOf = ({ inside }: Place, formats = "0", more = "a=sendrecv"): Requests.Body => {
  const address = inside.startsWith("[") ? `IP6 ${inside.slice(1, inside.indexOf("]"))}` : `IP4 ${inside.split(":")[0]}`
  const lines = ["v=0", `o=- 1 1 IN ${address}`, "s=-", `c=IN ${address}`, "t=0 0", `m=audio 30000 RTP/AVP ${formats}`]
  return { type: "application/sdp", bytes: new TextEncoder().encode([...lines, more, ""].join("\r\n")) }
}

const tenantId = Ids.tenant("t")

/** An answered call with the peer, placed by either side, and the peer's end of its dialog. */
const talking = Effect.fnUntraced(function* (by: "us" | "peer", place: Place) {
  const { inside, ours, outside } = place
  const rig = yield* Rig.make(`nat ${by} ${outside.address}`, ours)
  const host = IpAddress.host(outside.address)
  rig.trunk = { ...Rig.trunk, host: outside.address, port: outside.port, username: "u", password: "p" }
  yield* rig.know([outside.address])
  const contact = `<sip:pbx@${inside}>`
  let of = Rig.of
  let invite: SipRequest
  let theirs: Dialog.Dialog | null
  let ack: () => SipRequest = () => expect.fail("no ACK")
  if (by === "us") {
    yield* rig.command(Rig.dial)
    invite = Rig.requestOf(rig.sent(), "INVITE")
    theirs = Dialog.fromRequest(invite, { localTag: "bob", contact, cseq: 6 })
    yield* rig.deliver(Rig.reply(invite, 200, { contact, body: bodyOf(place) }), outside)
  } else {
    invite = Rig.invite({
      uri: `sip:+12025550150@${IpAddress.host(ours.address)}`,
      from: `<sip:+4930123456@${host}>;tag=bob`,
      sentBy: inside,
      contact,
      body: bodyOf(place)
    })
    yield* rig.deliver(invite, outside)
    of = Rig.ofOffered(rig)
    yield* rig.command({ ...of, commandId: Ids.command("answer"), type: "answer", tenantId })
    const response = Rig.responseOf(rig.sent(), 200)
    theirs = Dialog.fromResponse(invite, response)
    const dialog = theirs ?? expect.fail("no dialog")
    ack = () => Dialog.acknowledge(dialog, invite, { sentBy: inside, branch: "z9hG4bKack" }).request
    yield* rig.deliver(ack(), outside)
  }
  let dialog = theirs ?? expect.fail("no dialog")
  let branches = 0
  const ask = (method: string, extras: Requests.Extras = {}, from = outside) => {
    const hop = { sentBy: inside, branch: `z9hG4bKpeer${++branches}` }
    const built = Dialog.request({ ...dialog, phase: "confirmed" }, method, hop, extras)
    ;({ dialog } = built)
    return rig.deliver(built.request, from)
  }
  return { rig, of, invite, ask, contact, sent: by === "us" ? rig.sent() : [], told: rig.told() }
})

const sentTo = (sent: ReturnType<Rig.Rig["sent"]>) => sent.map(({ message, to }) => [Rig.name(message), to])

const resumeOf = (told: ReturnType<Rig.Rig["told"]>) => {
  const last = told.findLast((event) => event.type === "answered")
  return last !== undefined && "resume" in last ? last.resume : null
}

for (const place of places) {
  const { name, outside } = place

  describe(`a peer behind a NAT (${name})`, () => {
    it.effect("gets the ACK to its 200, again for each repetition of that", () =>
      Effect.gen(function* () {
        const { contact, invite, rig, sent } = yield* talking("us", place)
        expect(sentTo(sent)).toEqual([["ACK", outside]])
        yield* rig.deliver(Rig.reply(invite, 200, { contact, body: bodyOf(place) }), outside)
        expect(sentTo(rig.sent())).toEqual([["ACK", outside]])
      })
    )

    it.effect("gets ACK and BYE for another branch of a forked INVITE", () =>
      Effect.gen(function* () {
        const { contact, invite, rig } = yield* talking("us", place)
        yield* rig.deliver(Rig.reply(invite, 200, { toTag: "fork", contact, body: bodyOf(place) }), outside)
        expect(sentTo(rig.sent())).toEqual([
          ["ACK", outside],
          ["BYE", outside]
        ])
      })
    )

    it.effect("gets the CANCEL while it rings, and the ACK to its 487", () =>
      Effect.gen(function* () {
        const rig = yield* Rig.make("nat rings", place.ours)
        rig.trunk = { ...Rig.trunk, host: outside.address, port: outside.port }
        yield* rig.know([outside.address])
        yield* rig.command(Rig.dial)
        const invite = Rig.requestOf(rig.sent(), "INVITE")
        yield* rig.deliver(Rig.reply(invite, 180, { contact: `<sip:pbx@${place.inside}>` }), outside)
        yield* rig.command(Rig.hangup)
        expect(sentTo(rig.sent())).toEqual([["CANCEL", outside]])
        yield* rig.deliver(Rig.reply(invite, 487), outside)
        expect(sentTo(rig.sent())).toEqual([["ACK", outside]])
      })
    )

    for (const by of ["us", "peer"] as const) {
      const whose = by === "us" ? "our call" : "its call"

      it.effect(`gets the BYE of ${whose}, and the BYE that answers a challenge`, () =>
        Effect.gen(function* () {
          const { of, rig } = yield* talking(by, place)
          yield* rig.command({ ...Rig.hangup, ...of, commandId: Ids.command("bye") })
          const sent = rig.sent()
          expect(sentTo(sent)).toEqual([["BYE", outside]])
          const headers = [["WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"'] as const]
          yield* rig.deliver(Responses.make(Rig.requestOf(sent, "BYE"), 401, { headers }), outside)
          expect(sentTo(rig.sent())).toEqual([["BYE", outside]])
        })
      )

      it.effect(`gets the BYE of ${whose} by the next process`, () =>
        Effect.gen(function* () {
          const { of, told } = yield* talking(by, place)
          const next = yield* Rig.make("nat next", place.ours)
          const resume = resumeOf(told)
          yield* next.command({ ...of, commandId: Ids.command("h"), type: "hangup", origin: null, resume })
          expect(sentTo(next.sent())).toEqual([["BYE", outside]])
        })
      )

      it.effect(`gets the REFER of ${whose}, and answers to its own requests`, () =>
        Effect.gen(function* () {
          const { ask, of, rig } = yield* talking(by, place)
          yield* rig.command({
            ...of,
            commandId: Ids.command("refer"),
            type: "refer",
            to: "sip:+12025550170@192.0.2.9",
            headers: []
          })
          const sent = rig.sent()
          expect(sentTo(sent)).toEqual([["REFER", outside]])
          yield* rig.deliver(Responses.make(Rig.requestOf(sent, "REFER"), 202), outside)
          const headers: ReadonlyArray<Header> = [
            ["Event", "refer"],
            ["Subscription-State", "active"]
          ]
          const body = { type: "message/sipfrag", bytes: new TextEncoder().encode("SIP/2.0 180 Ringing") }
          yield* ask("NOTIFY", { headers, body })
          yield* ask("OPTIONS")
          expect(sentTo(rig.sent())).toEqual([
            ["200", outside],
            ["200", outside]
          ])
        })
      )

      it.effect(`gets the BYE of ${whose} where its re-INVITE came from, when it has moved to another NAT`, () =>
        Effect.gen(function* () {
          const { ask, of, rig } = yield* talking(by, place)
          const elsewhere = { address: place.outside.address.replace(/10$/, "77"), port: 40_001 }
          yield* rig.know([outside.address, elsewhere.address])
          yield* ask("INVITE", { body: bodyOf(place) }, elsewhere)
          expect(sentTo(rig.sent())).toEqual([["200", elsewhere]])
          const resume = resumeOf(rig.told())
          expect(resume).toMatchObject({ flow: { remote: elsewhere } })
          const next = yield* Rig.make("nat moved", place.ours)
          yield* next.command({ ...of, commandId: Ids.command("h"), type: "hangup", origin: null, resume })
          expect(sentTo(next.sent())).toEqual([["BYE", elsewhere]])
        })
      )
    }

    it.effect(
      "gets the BYE of its call at the port of its last re-INVITE, and that of our call at its trunk's port",
      () =>
        Effect.gen(function* () {
          const rebound = { ...outside, port: 61_999 }
          for (const [by, to] of [
            ["peer", rebound],
            ["us", outside]
          ] as const) {
            const { ask, rig, told } = yield* talking(by, place)
            yield* ask("INVITE", { body: bodyOf(place) }, rebound)
            const resume = resumeOf([...told, ...rig.told()])
            expect(resume).toMatchObject({ flow: { remote: to } })
          }
        })
    )

    it.effect("keeps its place where its re-INVITE is refused", () =>
      Effect.gen(function* () {
        const { ask, of, rig } = yield* talking("peer", place)
        const body = bodyOf(place, "18", "a=rtpmap:18 G729/8000")
        yield* ask("INVITE", { body }, { ...outside, port: 61_999 })
        expect(Rig.names(rig.sent())).toEqual(["488"])
        yield* rig.command({ ...Rig.hangup, ...of, commandId: Ids.command("bye") })
        expect(sentTo(rig.sent())).toEqual([["BYE", outside]])
      })
    )

    it("gets every request that a session can send", () => {
      const flow = SipSample.flow(outside, place.ours)
      const transport: Transports.Transport = {
        type: "udp",
        localTo: () => place.ours,
        announcedTo: () => place.ours,
        open: (remote) => SipSample.flow(remote, place.ours),
        send: () => undefined,
        receive: () => undefined
      }
      const transports = Transports.make([transport])
      const invite = SipSample.request("INVITE", { contact: `<sip:pbx@${place.inside}>`, body: bodyOf(place) })
      const dialog = Dialog.fromRequest(invite, { localTag: "us", contact: "<sip:us@192.0.2.1>", cseq: 1 })
      const session = SessionMachine.start({
        dialog: dialog ?? expect.fail("no dialog"),
        isCaller: false,
        flow,
        trunk: null,
        agent: { userAgent: "t", host: "192.0.2.1" },
        local: {
          addresses: IpAddress.only("192.0.2.1"),
          family: "ipv4",
          port: 40_000,
          sessionId: "7",
          codecs: [Codecs.table.PCMU],
          codecChoice: "ours"
        },
        media: OfferAnswer.initial
      })
      const commandId = Ids.command("c")
      const actions: ReadonlyArray<Action> = [
        { type: "renegotiate", commandId, direction: "sendonly" },
        { type: "info", commandId, body: { type: "application/dtmf", bytes: new TextEncoder().encode("1") } },
        { type: "refer", commandId, uri: "sip:carol@192.0.2.9", headers: [] }
      ]
      const inputs: ReadonlyArray<Input> = [
        ...actions.map((action) => ({ type: "action", action }) as const),
        { type: "acknowledge", invite },
        { type: "hangUp", end: { cause: "hangup", sipStatus: null, by: "near" } }
      ]
      const sent = inputs.flatMap((input) => {
        const { outputs } = SessionMachine.step({ ...session, phase: "established" }, input, {
          now: 0,
          token: "00",
          nonces: () => ({})
        })
        return outputs.flatMap((output) => {
          if (output.type !== "request" && output.type !== "ack") return []
          const { flow: to } = NextHop.within({ transports, random: () => "ab" }, output.dialog, output.flow)
          return [[output.request.method, to.remote]]
        })
      })
      expect(sent).toEqual(["INVITE", "INFO", "REFER", "ACK", "BYE"].map((method) => [method, outside]))
    })
  })
}
