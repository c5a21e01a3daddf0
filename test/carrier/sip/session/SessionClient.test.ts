/** Our own requests within a dialog, against a peer in memory, because no verb of the API requests them yet. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { CarrierEvent } from "../../../../src/carrier/Carrier.ts"
import * as Codecs from "../../../../src/protocol/audio/codec/Codecs.ts"
import * as Bridges from "../../../../src/carrier/bridge/Bridges.ts"
import * as PeerTable from "../../../../src/carrier/peer/PeerTable.ts"
import type { Action, Outcome } from "../../../../src/carrier/sip/session/SessionState.ts"
import * as Transports from "../../../../src/carrier/sip/transport/Transports.ts"
import * as IngressFilter from "../../../../src/carrier/sip/ingress/IngressFilter.ts"
import * as UserAgent from "../../../../src/carrier/sip/UserAgent.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import type { Listener, RtpRemote } from "../../../../src/media/plane/MediaPlane.ts"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import {
  type Header,
  header,
  type SipMessage,
  type SipRequest
} from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../../src/protocol/sip/message/SipWriter.ts"
import * as Sample from "../../../support/fake/CarrierSample.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

/** A user agent on a clock that the test moves; everything else happens at once. */
const make = (password: string | null = null) => {
  let now = 0
  let wakeAt = Infinity
  let counter = 0
  const sent: Array<SipMessage> = []
  const told: Array<CarrierEvent> = []
  const connected: Array<RtpRemote> = []
  const listeners = new Map<string, Listener>()
  const flow = { transport: "udp", local: Rig.self, remote: Rig.peer, connection: null } as const
  const transports = Transports.make([
    {
      type: "udp",
      localTo: () => Rig.self,
      announcedTo: () => Rig.self,
      open: (remote) => ({ ...flow, remote }),
      send: (bytes) => void sent.push(Result.getOrThrow(SipParser.parse(bytes))),
      receive: () => undefined
    }
  ])
  const peers = PeerTable.make()
  for (const update of PeerTable.snapshot(1, [Rig.peer.address])) peers.take(update)
  const username = password === null ? null : "alice"
  const agent = UserAgent.make({
    transports,
    userAgent: "trunkline/test",
    bridging: Bridges.make,
    meeting: () => ({
      join: () => undefined,
      leave: () => undefined,
      part: () => undefined,
      ended: () => undefined,
      rooms: { interpret: () => Effect.void, snapshot: () => Effect.succeed(null), caughtUp: () => Effect.void }
    }),
    negotiation: { codecs: [Codecs.table.PCMU, Codecs.table.PCMA], codecChoice: "ours" },
    run: (effect, settled) => settled(Effect.runSyncExit(effect)),
    plane: {
      addresses: IpAddress.only("192.0.2.1"),
      openRtp: () =>
        Effect.succeed({
          addresses: IpAddress.only("192.0.2.1"),
          port: 40_000,
          placement: { gateway: "local", thread: 0 }
        }),
      connectRtp: (_, remote) => Effect.sync(() => void connected.push(remote)),
      openPhone: () => Effect.void,
      openJoined: () => Effect.void,
      capture: () => Effect.die(new Error("not here")),
      attend: () => Effect.void,
      bridge: () => Effect.void,
      unbridge: () => Effect.void,
      openRoom: () => Effect.void,
      enterRoom: () => Effect.void,
      leaveRoom: () => Effect.void,
      changeMember: () => Effect.void,
      beep: () => Effect.void,
      press: () => Effect.void,
      command: () => Effect.void,
      close: (leg) => Effect.sync(() => listeners.get(leg)?.closed?.(null)),
      subscribe: (leg, listener) => Effect.sync(() => void listeners.set(leg, listener))
    },
    soundEnds: () => undefined,
    sounded: () => undefined,
    sink: {
      offer: () => Effect.succeed({ admitted: true, callId: Ids.call("c"), routeId: Rig.trunk.routeId }),
      tell: (_, event) => Effect.sync(() => (told.push(event), "committed"))
    },
    directory: {
      qualified: () => Effect.succeed([]),
      sipTrunk: () => Effect.succeed({ ...Rig.trunk, username, password }),
      knownPeers: () => Effect.void
    },
    resolve: (host) => Effect.succeed([host]),
    random: (bytes) =>
      (++counter * 7_919)
        .toString(16)
        .padStart(2 * bytes, "0")
        .slice(-2 * bytes),
    incarnation: "i",
    gate: IngressFilter.make({ peers, now: () => now, wallMs: () => now }),
    stranger: () => {},
    refused: () => {},
    counted: () => {},
    steadyMs: () => now,
    maxLegs: 10,
    fault: (error) => {
      throw error
    },
    alarm: {
      now: () => now,
      wakeAt: (at) => {
        wakeAt = at
      }
    }
  })
  return {
    agent,
    connected,
    told: () => Rig.words(told.splice(0)),
    sent: () => sent.splice(0),
    deliver: (message: SipMessage) => agent.transactions.receive(SipWriter.write(message), flow),
    pass: (ms: number) => {
      const until = now + ms
      while (wakeAt <= until) {
        now = Math.max(now, wakeAt)
        wakeAt = Infinity
        agent.transactions.wake()
      }
      now = until
    }
  }
}

const requestOf = (sent: ReadonlyArray<SipMessage>, method: string): SipRequest => {
  const found = sent.findLast((message) => message.type === "request" && message.method === method)
  if (found?.type !== "request") return expect.fail(`no ${method} among ${sent.map(Rig.name).join(" ")}`)
  return found
}

const invite = Requests.make({
  method: "INVITE",
  uri: "sip:+12025550150@192.0.2.1",
  sentBy: "192.0.2.2:5062",
  branch: "z9hG4bKin",
  from: "<sip:+4930123456@192.0.2.2>;tag=bob",
  to: "<sip:+12025550150@192.0.2.1>",
  callId: "in",
  cseq: 1,
  contact: "<sip:bob@192.0.2.2:5062>",
  body: Rig.sdpBody()
})

/** An established call, placed by either side, with the peer's dialog and an empty record. */
const established = (by: "us" | "peer", password: string | null = null) => {
  const rig = make(password)
  let dialog: Dialog.Dialog | null
  let legId = Rig.of.legId
  if (by === "us") {
    rig.agent.command(Sample.order(Rig.dial))
    const placed = requestOf(rig.sent(), "INVITE")
    dialog = Dialog.fromRequest(placed, { localTag: "bob", contact: "<sip:bob@192.0.2.2:5062>", cseq: 6 })
    rig.deliver(Rig.reply(placed, 200, { body: Rig.sdpBody() }))
  } else {
    rig.deliver(invite)
    legId = Object.keys(rig.agent.snapshot(Sample.order(Rig.dial).authority, null).legs)[0] as typeof legId
    rig.agent.command(
      Sample.order({ ...Rig.of, commandId: Ids.command("a"), type: "answer", tenantId: Ids.tenant("t"), legId })
    )
    const response = rig.sent().find((message) => message.type === "response" && message.status === 200)
    if (response?.type !== "response") return expect.fail("no 200")
    dialog = Dialog.fromResponse(invite, response)
    if (dialog !== null)
      rig.deliver(Dialog.acknowledge(dialog, invite, { sentBy: "192.0.2.2:5062", branch: "z9hG4bKack" }).request)
  }
  if (dialog === null) return expect.fail("no dialog")
  const theirs = dialog
  const outcomes: Array<Outcome> = []
  rig.sent()
  rig.told()
  return {
    ...rig,
    outcomes: () => outcomes.splice(0).map(({ commandId, status }) => `${commandId} ${status}.`),
    act: (action: Action) => rig.agent.perform(legId, action, (outcome) => outcomes.push(outcome)),
    /** A request of the peer. */
    ask: (method: string, cseq: number, more: Requests.Extras = {}) => {
      const hop = { sentBy: "192.0.2.2:5062", branch: `z9hG4bKbob${method}${cseq}` }
      const from = { ...theirs, localCSeq: cseq - 1 }
      rig.deliver(Dialog.request(from, method, hop, more).request)
    },
    hangUp: () => rig.agent.command(Sample.order({ ...Rig.hangup, legId }))
  }
}

const hold: Action = { type: "renegotiate", commandId: Ids.command("hold"), direction: "sendonly" }
const info: Action = {
  type: "info",
  commandId: Ids.command("info"),
  body: { type: "application/dtmf", bytes: new TextEncoder().encode("5") }
}
const refer: Action = { type: "refer", commandId: Ids.command("refer"), uri: "sip:carol@example.com", headers: [] }

const text = (message: SipMessage) => new TextDecoder().decode(message.body)
const held = Rig.sdpBody(30_000, "a=recvonly")
const names = (sent: ReadonlyArray<SipMessage>) => sent.map(Rig.name)

describe("a re-INVITE of ours", () => {
  it("offers within the dialog, is acknowledged, and its 2xx gets the same ACK again", () => {
    const call = established("us")
    call.act(hold)
    const request = requestOf(call.sent(), "INVITE")
    expect(Rig.cseqOf(request)).toBe(2)
    expect(text(request)).toContain("a=sendonly")
    expect(text(request)).toMatch(/o=- \d+ 2 IN IP4/)
    expect(header(request, "Contact")).toContain("192.0.2.1")
    call.deliver(Rig.reply(request, 100))
    call.deliver(Rig.reply(request, 200, { body: held }))
    const sent = call.sent()
    expect(names(sent)).toEqual(["ACK"])
    const ack = requestOf(sent, "ACK")
    expect(Rig.cseqOf(ack)).toBe(2)
    expect(call.outcomes()).toEqual(["hold 200."])
    expect(call.connected.at(-1)).toMatchObject({ port: 30_000, direction: "sendonly" })
    call.deliver(Rig.reply(request, 200, { body: held }))
    expect(call.sent()).toEqual([ack])
    expect(call.outcomes()).toEqual([])
  })

  for (const [by, from, to] of [
    ["us", 2_100, 4_000],
    ["peer", 0, 2_000]
  ] as const)
    it(`that meets 491 goes again ${from} to ${to} ms later where ${by} placed the call (section 14.1)`, () => {
      const call = established(by)
      for (let round = 0; round < 4; round++) {
        if (round === 0) call.act(hold)
        const request = requestOf(call.sent(), "INVITE")
        call.deliver(Rig.reply(request, 491))
        call.sent()
        call.pass(from - 1)
        expect(call.sent()).toEqual([])
        call.pass(to - from + 1)
      }
      const again = requestOf(call.sent(), "INVITE")
      expect(text(again)).toMatch(/o=- \d+ 2 IN IP4/)
      call.deliver(Rig.reply(again, 200, { body: held }))
      expect(call.outcomes()).toEqual(["hold 200."])
    })

  it("that always meets 491 is given up", () => {
    const call = established("us")
    call.act(hold)
    for (let round = 0; round < 30; round++) {
      const request = call.sent().find((message) => message.type === "request" && message.method === "INVITE")
      if (request?.type === "request") call.deliver(Rig.reply(request, 491))
      call.pass(4_000)
    }
    expect(call.outcomes()).toEqual(["hold 491."])
  })

  it("that is refused leaves the session as it was", () => {
    const call = established("us")
    const before = call.connected.length
    call.act(hold)
    call.deliver(Rig.reply(requestOf(call.sent(), "INVITE"), 488))
    expect(call.outcomes()).toEqual(["hold 488."])
    expect(names(call.sent())).toEqual(["ACK"])
    expect(call.connected).toHaveLength(before)
    call.ask("INVITE", 7, { body: Rig.sdpBody() })
    expect(text(call.sent()[0] ?? invite)).toContain("a=sendrecv")
  })

  for (const [status, ended] of [
    [408, "ended timer 408 network"],
    [481, "ended error 481 far"]
  ] as const)
    it(`that gets ${status} ends the dialog with BYE (section 12.2.1.2)`, () => {
      const call = established("us")
      call.act(hold)
      call.deliver(Rig.reply(requestOf(call.sent(), "INVITE"), status))
      expect(call.outcomes()).toEqual([`hold ${status}.`])
      call.deliver(Rig.reply(requestOf(call.sent(), "BYE"), 200))
      expect(call.told()).toEqual([ended.replace("ended", "leaving"), ended])
    })

  it("that nobody answers ends the dialog too", () => {
    const call = established("us")
    call.act(hold)
    call.pass(32_000)
    expect(names(call.sent())).toContain("BYE")
    expect(call.outcomes()).toEqual(["hold null."])
  })

  it("answers a challenge, as a transaction of its own", () => {
    const call = established("us", "secret")
    call.act(hold)
    const first = requestOf(call.sent(), "INVITE")
    const challenge = ["WWW-Authenticate", 'Digest realm="trunk", nonce="n", qop="auth"'] as const
    call.deliver(Rig.reply(first, 401, { headers: [challenge] }))
    const second = requestOf(call.sent(), "INVITE")
    expect(Rig.cseqOf(second)).toBe(3)
    expect(header(second, "Authorization")).toContain('username="alice"')
    expect([header(first, "Supported"), header(second, "Supported")]).toEqual(["", ""])
    expect(header(second, "Via")).not.toBe(header(first, "Via"))
    expect(text(second)).toBe(text(first))
    call.deliver(Rig.reply(second, 200, { body: held }))
    const ack = requestOf(call.sent(), "ACK")
    expect([Rig.cseqOf(ack), header(ack, "Authorization")]).toEqual([3, header(second, "Authorization")])
    call.act({ ...hold, commandId: Ids.command("next") })
    expect(header(requestOf(call.sent(), "INVITE"), "Authorization")).toContain("nc=00000002")
  })

  it("without a usable answer is acknowledged and ends the call", () => {
    const call = established("us")
    call.act(hold)
    call.deliver(Rig.reply(requestOf(call.sent(), "INVITE"), 200))
    expect(names(call.sent())).toEqual(["ACK", "BYE"])
  })

  it("meets one of the peer with 491, and waits while the peer's has no ACK", () => {
    const call = established("us")
    call.act(hold)
    const ours = requestOf(call.sent(), "INVITE")
    call.ask("INVITE", 7, { body: Rig.sdpBody() })
    expect(names(call.sent())).toEqual(["491"])
    call.deliver(Rig.reply(ours, 488))
    call.ask("INVITE", 8, { body: Rig.sdpBody() })
    call.sent()
    call.act(hold)
    expect(call.sent()).toEqual([])
    call.ask("ACK", 8)
    expect(names(call.sent())).toEqual(["INVITE"])
  })

  it("that is answered from another Contact moves the target, and tells what a restart needs", () => {
    const call = established("us")
    call.act(hold)
    const contact = "<sip:bob@192.0.2.9:5099>"
    call.deliver(Rig.reply(requestOf(call.sent(), "INVITE"), 200, { body: held, contact }))
    expect(requestOf(call.sent(), "ACK").uri).toBe("sip:bob@192.0.2.9:5099")
    expect(call.told()).toEqual(["answered"])
  })

  it("goes alone: a second one is not sent", () => {
    const call = established("us")
    call.act(hold)
    call.act({ ...hold, commandId: Ids.command("other") })
    expect(call.outcomes()).toEqual(["other null."])
    expect(names(call.sent())).toEqual(["INVITE"])
  })
})

describe("an INFO of ours", () => {
  it("is told of with its final response", () => {
    const call = established("peer")
    call.act(info)
    const request = requestOf(call.sent(), "INFO")
    expect(text(request)).toBe("5")
    call.deliver(Rig.reply(request, 415))
    expect(call.outcomes()).toEqual(["info 415."])
  })

  it("is not sent beyond what one dialog may have open", () => {
    const call = established("peer")
    for (let count = 0; count < 20; count++) call.act({ ...info, commandId: Ids.command(`info ${count}`) })
    expect(call.sent()).toHaveLength(16)
    expect(call.outcomes()).toEqual([16, 17, 18, 19].map((count) => `info ${count} null.`))
  })
})

describe("a REFER of ours", () => {
  const notify = (state: string, line: string, id = ""): Requests.Extras => ({
    headers: [
      ["Event", `refer${id}`],
      ["Subscription-State", state],
      ["Contact", "<sip:bob@192.0.2.2:5062>"]
    ] satisfies ReadonlyArray<Header>,
    body: { type: "message/sipfrag", bytes: new TextEncoder().encode(`${line}\r\n`) }
  })

  it("is told of by its NOTIFYs, and its subscription is over with the last one", () => {
    const call = established("us")
    call.act(refer)
    const request = requestOf(call.sent(), "REFER")
    expect([header(request, "Refer-To"), header(request, "Contact")]).toEqual([
      "<sip:carol@example.com>",
      expect.stringContaining("192.0.2.1")
    ])
    call.deliver(Rig.reply(request, 202))
    call.ask("NOTIFY", 7, notify("active;expires=60", "SIP/2.0 100 Trying"))
    call.ask("NOTIFY", 8, notify("active;expires=60", "SIP/2.0 180 Ringing", ";id=2"))
    call.ask("NOTIFY", 9, notify("terminated;reason=noresource", "SIP/2.0 200 OK", ";id=2"))
    expect(names(call.sent())).toEqual(["200", "200", "200"])
    expect(call.told()).toEqual(["referred accepted 202", "referred completed 200"])
    call.ask("NOTIFY", 10, notify("active", "SIP/2.0 200 OK"))
    expect(names(call.sent())).toEqual(["481"])
  })

  it("may be notified of before it is answered, and of another event is not", () => {
    const call = established("us")
    call.act(refer)
    const request = requestOf(call.sent(), "REFER")
    call.ask("NOTIFY", 7, notify("active", "SIP/2.0 100 Trying"))
    call.ask("NOTIFY", 8, notify("active", "SIP/2.0 100 Trying", ";id=99"))
    call.deliver(Rig.reply(request, 202))
    expect(names(call.sent())).toEqual(["200", "481"])
    expect(call.told()).toEqual(["referred accepted 202"])
  })

  it("that was challenged is notified of under its new number", () => {
    const call = established("us", "secret")
    call.act(refer)
    const challenge = ["WWW-Authenticate", 'Digest realm="trunk", nonce="n"'] as const
    call.deliver(Rig.reply(requestOf(call.sent(), "REFER"), 401, { headers: [challenge] }))
    call.deliver(Rig.reply(requestOf(call.sent(), "REFER"), 202))
    call.ask("NOTIFY", 7, notify("terminated", "SIP/2.0 200 OK", ";id=3"))
    expect(names(call.sent())).toEqual(["200"])
    expect(call.told()).toEqual(["referred accepted 202", "referred completed 200"])
  })

  it("that is refused has its status, and one that nothing is heard of has none", () => {
    const call = established("us")
    call.act(refer)
    call.deliver(Rig.reply(requestOf(call.sent(), "REFER"), 405))
    expect(call.told()).toEqual(["referred failed 405"])
    call.act(refer)
    call.deliver(Rig.reply(requestOf(call.sent(), "REFER"), 202))
    call.pass(31_999)
    expect(call.told()).toEqual(["referred accepted 202"])
    call.pass(1)
    expect(call.told()).toEqual(["referred failed -"])
  })
})

describe("the end of a leg", () => {
  it("leaves nothing open: what nobody knows the end of has none", () => {
    const call = established("us")
    call.act(info)
    call.act(refer)
    call.act(hold)
    call.sent()
    call.hangUp()
    call.act({ ...info, commandId: Ids.command("late") })
    expect(call.outcomes()).toEqual(["late null."])
    call.deliver(Rig.reply(requestOf(call.sent(), "BYE"), 200))
    expect(call.outcomes().toSorted()).toEqual(["hold null.", "info null."])
    expect(call.told()).toEqual(["ended hangup - near"])
    call.pass(60_000)
    expect(call.agent.held()).toMatchObject({ legs: 0, dialogs: 0, invites: 0, transactions: 0 })
  })

  it("is of a leg that is not here: nothing is sent", () => {
    const { agent } = make()
    const heard: Array<Outcome> = []
    agent.perform(Ids.leg("nobody"), info, (outcome) => heard.push(outcome))
    expect(heard).toEqual([{ commandId: "info", status: null }])
  })

  it("takes up no challenge any more", () => {
    const call = established("us", "secret")
    call.act(info)
    const request = requestOf(call.sent(), "INFO")
    call.hangUp()
    call.sent()
    const challenge = ["WWW-Authenticate", 'Digest realm="trunk", nonce="n"'] as const
    call.deliver(Rig.reply(request, 401, { headers: [challenge] }))
    expect(call.sent()).toEqual([])
    expect(call.outcomes()).toEqual(["info 401."])
  })

  it("during a re-INVITE still acknowledges its 2xx", () => {
    const call = established("us")
    call.act(hold)
    const request = requestOf(call.sent(), "INVITE")
    call.hangUp()
    call.deliver(Rig.reply(request, 200, { body: held }))
    expect(names(call.sent())).toEqual(["BYE", "ACK"])
  })
  for (const [what, end] of [
    ["the 200 to our BYE", (call: ReturnType<typeof established>) => call.hangUp()],
    ["the peer's BYE", (call: ReturnType<typeof established>) => call.ask("BYE", 8)]
  ] as const)
    it(`acknowledges the 2xx to a re-INVITE also after ${what}, each time that it is repeated`, () => {
      const call = established("us")
      call.act(hold)
      const request = requestOf(call.sent(), "INVITE")
      end(call)
      const bye = call.sent().find((message) => message.type === "request" && message.method === "BYE")
      if (bye?.type === "request") call.deliver(Rig.reply(bye, 200))
      expect(call.told()).toHaveLength(1)
      call.sent()
      for (let again = 0; again < 2; again++) call.deliver(Rig.reply(request, 200, { body: held }))
      const acks = call.sent()
      expect(names(acks)).toEqual(["ACK", "ACK"])
      expect(SipWriter.write(acks[1] ?? request)).toEqual(SipWriter.write(acks[0] ?? request))
      expect(call.outcomes()).toEqual(["hold null."])
      call.pass(64_000)
      expect(call.agent.held()).toMatchObject({ legs: 0, dialogs: 0, invites: 0, transactions: 0 })
    })
})
