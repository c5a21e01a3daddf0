import { describe, expect, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as PeerTable from "../../../../src/carrier/peer/PeerTable.ts"
import type * as IngressPipeline from "../../../../src/carrier/sip/ingress/IngressPipeline.ts"
import * as IngressFilter from "../../../../src/carrier/sip/ingress/IngressFilter.ts"
import * as TransactionLayer from "../../../../src/carrier/sip/TransactionLayer.ts"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as MessageKey from "../../../../src/protocol/sip/message/MessageKey.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import { header, type SipRequest, type SipResponse } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../../src/protocol/sip/message/SipWriter.ts"
import * as Random from "../../../support/Random.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"
import * as Rig from "../Rig.ts"

const stranger = { address: "198.51.100.9", port: 5060 }

const invite = (more: Partial<Requests.Fields> = {}): SipRequest =>
  Requests.make({
    method: "INVITE",
    uri: "sip:+12025550150@192.0.2.1",
    sentBy: "192.0.2.2:5062",
    branch: "z9hG4bKgate",
    from: "<sip:+4930123456@192.0.2.2>;tag=bob",
    to: "<sip:+12025550150@192.0.2.1>",
    callId: "gate",
    cseq: 1,
    contact: "<sip:bob@192.0.2.2:5062>",
    body: Rig.sdpBody(),
    ...more
  })

describe("the gate", () => {
  const facts = { isReady: true, isKnownPeer: false, isOurs: false, method: "INVITE", isWithin: false }
  const rows: ReadonlyArray<readonly [what: string, facts: Partial<IngressFilter.Facts>, verdict: string | number]> = [
    ["a known peer", { isKnownPeer: true }, "admit"],
    ["a known peer's ACK", { isKnownPeer: true, method: "ACK" }, "admit"],
    ["whoever knows a dialog of ours", { isOurs: true, isWithin: true, method: "BYE" }, "admit"],
    ["whoever knows a dialog of ours, before the first table", { isOurs: true, isReady: false }, "admit"],
    ["a stranger's INVITE", {}, 403],
    ["a stranger's OPTIONS", { method: "OPTIONS" }, 403],
    ["a stranger's unknown method", { method: "NONSENSE" }, 403],
    ["a stranger's ACK", { method: "ACK" }, "drop"],
    ["a stranger's ACK within a dialog", { method: "ACK", isWithin: true }, "drop"],
    ["a stranger's BYE within a dialog", { method: "BYE", isWithin: true }, 481],
    ["a stranger's CANCEL", { method: "CANCEL", isWithin: true }, 481],
    ["anybody's INVITE before the first table", { isReady: false }, 503],
    ["anybody's BYE before the first table", { isReady: false, method: "BYE", isWithin: true }, 481],
    ["anybody's ACK before the first table", { isReady: false, method: "ACK" }, "drop"]
  ]
  for (const [what, some, verdict] of rows)
    it(`${typeof verdict === "number" ? `answers ${verdict} to` : `${verdict}s`} ${what}`, () => {
      const judged = IngressFilter.judge({ ...facts, ...some })
      expect(judged.type === "refuse" ? judged.status : judged.type).toBe(verdict)
    })
})

/** A transaction layer that answers every request with 200, and the messages that went through it. */
const make = (known: ReadonlyArray<string> | null, isSilent = false) => {
  let now = 0
  const peers = PeerTable.make()
  if (known !== null) for (const part of PeerTable.snapshot(1, known)) peers.take(part)
  const sent: Array<{ readonly bytes: Uint8Array; readonly to: string }> = []
  const taken: Array<string> = []
  const dialogs = new Set<string>()
  const sightings: Array<IngressPipeline.Sighting> = []
  const banned: Array<string> = []
  const gate = IngressFilter.make({
    peers,
    isSilent,
    banned: (source) => banned.push(source),
    now: () => now,
    wallMs: () => 1_700_000_000_000 + now
  })
  const layer: TransactionLayer.TransactionLayer = TransactionLayer.make({
    wire: { send: (bytes, to) => sent.push({ bytes, to: to.remote.address }) },
    alarm: { now: () => now, wakeAt: () => {} },
    fault: (error) => {
      throw error
    },
    stranger: (sighting) => sightings.push(sighting),
    gate,
    server: {
      request: (id, request, from) => {
        taken.push(from.remote.address)
        layer.respond(id, Responses.make(request, 200, { toTag: "ours" }))
      },
      cancel: () => {},
      ack: (_, from) => taken.push(from.remote.address),
      hasDialog: (request) => dialogs.has(MessageKey.dialogOfRequest(request)),
      refused: () => {},
      ownsCall: (callId) => [...dialogs].some((id) => MessageKey.callIdOfDialog(id) === callId)
    }
  })
  return {
    layer,
    gate,
    banned,
    /** The fates of strangers' messages since the last call: a status, `none`, or why they were not read. */
    sighted: () =>
      sightings.splice(0).map((each) => (each.type === "unread" ? each.why : String(each.status ?? "none"))),
    dialogs,
    /** Returns the bytes of the answers, and whether the message came through. */
    receive: (bytes: Uint8Array, address: string) => {
      layer.receive(bytes, SipSample.flow({ address, port: 5060 }))
      return { answers: sent.splice(0), taken: taken.splice(0) }
    },
    pass: (ms: number) => {
      now += ms
      layer.wake()
    }
  }
}

const statuses = (answers: ReadonlyArray<{ readonly bytes: Uint8Array }>) =>
  answers.map(({ bytes }) => {
    const message = Result.getOrThrow(SipParser.parse(bytes))
    return message.type === "response" ? message.status : message.method
  })

describe("a stranger", () => {
  it("is answered once for each request, as often as its bucket holds, and opens no transaction", () => {
    const { layer, pass, receive, sighted } = make(["192.0.2.2"])
    const seen: Array<unknown> = []
    for (let times = 0; times < 30; times++) {
      const request = SipWriter.write(invite({ branch: `z9hG4bK${times}`, callId: `c${times}` }))
      seen.push(...statuses(receive(request, stranger.address).answers))
    }
    expect(seen).toEqual(Array.from({ length: 10 }, () => 403))
    expect(layer.size()).toBe(0)
    expect(sighted()).toEqual([...Array(10).fill("403"), ...Array(10).fill("none"), ...Array(10).fill("flood")])
    pass(3_000)
    expect(statuses(receive(SipWriter.write(invite()), stranger.address).answers)).toEqual([403])
  })

  it("gets the same tag in each answer to the same request, as a server without state must", () => {
    const { receive } = make([])
    const tags = [1, 2].map(() => {
      const [answer] = receive(SipWriter.write(invite()), stranger.address).answers
      return answer === undefined ? "" : header(Result.getOrThrow(SipParser.parse(answer.bytes)), "To")
    })
    expect(tags[0]).toMatch(/;tag=[0-9a-f]{16}$/)
    expect(tags[1]).toBe(tags[0])
  })

  it("gets no answer that is longer than what it sent", () => {
    const { receive, sighted } = make([])
    const short =
      "OPTIONS sip:a SIP/2.0\r\nv:SIP/2.0/UDP h;branch=z9hG4bK1\r\nf:<a:b>\r\nt:<a:b>\r\ni:1\r\nCSeq:1 OPTIONS\r\n\r\n"
    expect(receive(new TextEncoder().encode(short), stranger.address).answers).toEqual([])
    expect(sighted()).toEqual(["none"])
  })

  it("gets no answer to what is faulty, and what is longer than any request of ours is not read", () => {
    const { layer, receive, sighted } = make(["192.0.2.2"])
    const faulty = new TextEncoder().encode(
      `OPTIONS sip:h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK1\r\nX: ${"x".repeat(200)}\r\n`
    )
    const long = SipWriter.write(invite({ headers: [["X", "x".repeat(8_000)]] }))
    expect(receive(faulty, stranger.address).answers).toEqual([])
    expect(receive(long, stranger.address).answers).toEqual([])
    expect(sighted()).toEqual(["none", "long"])
    expect(layer.counters.rejected).toBe(0)
    expect(statuses(receive(faulty, "192.0.2.2").answers)).toEqual([400])
    expect(receive(long, "192.0.2.2").taken).toEqual(["192.0.2.2"])
  })

  it("is everybody before the first table, and is asked to come again", () => {
    const { receive } = make(null)
    const [answer] = receive(SipWriter.write(invite()), "192.0.2.2").answers
    const message = answer === undefined ? null : Result.getOrThrow(SipParser.parse(answer.bytes))
    expect(message).toMatchObject({ status: 503 })
    expect(message === null ? null : header(message, "Retry-After")).toBe("5")
  })

  it("draws one answer by one INVITE at most, however long it waits for its ACK", () => {
    const { layer, pass, receive } = make(["192.0.2.2"])
    expect(statuses(receive(SipWriter.write(invite()), stranger.address).answers)).toEqual([403])
    for (let second = 0; second < 64; second++) pass(1_000)
    const ack = SipWriter.write(invite({ method: "ACK" }))
    expect(receive(ack, stranger.address).answers).toEqual([])
    expect(layer.size()).toBe(0)
  })

  it("hears nothing where the operator wants silence, but whoever knows a call of ours is heard", () => {
    const { dialogs, receive, sighted } = make(["192.0.2.2"], true)
    expect(receive(SipWriter.write(invite()), stranger.address).answers).toEqual([])
    expect(receive(SipWriter.write(invite({ method: "OPTIONS" })), stranger.address).answers).toEqual([])
    expect(sighted()).toEqual(["none", "none"])
    dialogs.add(MessageKey.dialog("gate", "ours", "bob"))
    const bye = invite({ method: "BYE", to: "<sip:+12025550150@192.0.2.1>;tag=ours" })
    expect(receive(SipWriter.write(bye), stranger.address).taken).toEqual([stranger.address])
  })

  it("is not read any more when it floods; whoever names a call of ours is, also from a banned source", () => {
    const { banned, dialogs, gate, pass, receive, sighted } = make(["192.0.2.2"])
    const flood = (count: number, from = stranger.address) => {
      for (let each = 0; each < count; each++)
        receive(SipWriter.write(invite({ branch: `z9hG4bK${each}`, callId: `c${each}` })), from)
    }
    flood(400)
    expect(sighted().filter((why) => why === "flood")).toHaveLength(380)
    expect(banned).toEqual([])
    flood(100)
    expect(banned).toEqual([stranger.address])
    expect(sighted()).toEqual(Array(100).fill("banned"))
    expect(gate.bans.automatic()).toMatchObject([
      { network: stranger.address, by: "automatic", createdAt: 1_700_000_000_000, expiresAt: 1_700_000_600_000 }
    ])
    dialogs.add(MessageKey.dialog("gate", "ours", "bob"))
    const bye = SipWriter.write(invite({ method: "BYE", to: "<sip:+12025550150@192.0.2.1>;tag=ours" }))
    expect(receive(bye, stranger.address).taken).toEqual([stranger.address])
    // Naming the call alone grants nothing.
    const forged = SipWriter.write(invite({ method: "BYE", to: "<sip:+12025550150@192.0.2.1>;tag=guessed" }))
    expect(receive(forged, stranger.address).taken).toEqual([])
    // The ban ends, and the stranger is answered as before.
    pass(600_001)
    sighted()
    flood(1)
    expect(sighted()).toEqual(["403"])
    // A known peer is never banned.
    flood(2_000, "192.0.2.2")
    expect(receive(SipWriter.write(invite({ branch: "z9hG4bKknown" })), "192.0.2.2").taken).toEqual(["192.0.2.2"])
    expect(banned).toHaveLength(1)
  })

  it("is one of thousands: all together are read 500 times a second, and a network that the operator banned only for calls of ours", () => {
    const { banned, dialogs, gate, pass, receive, sighted } = make(["192.0.2.2"])
    for (let each = 0; each < 5_000; each++)
      receive(SipWriter.write(invite({ branch: `z9hG4bK${each}` })), `10.${each >> 8}.0.${each & 255}`)
    const seen = sighted()
    expect(seen.filter((why) => why === "403")).toHaveLength(200)
    expect(seen.filter((why) => why === "none")).toHaveLength(300)
    expect(seen.filter((why) => why === "flood")).toHaveLength(4_500)
    expect(banned).toEqual([])
    pass(10_000)
    const at = { by: "operator", reason: "scanner", createdAt: 0 } as const
    gate.bans.take([
      { ...at, network: "198.51.100.0/24", expiresAt: null },
      { ...at, network: "10.0.0.0/8", expiresAt: 1_700_000_020_000 },
      { ...at, network: "192.0.2.0/24", expiresAt: null }
    ])
    dialogs.add(MessageKey.dialog("gate", "ours", "bob"))
    const elsewhere = SipWriter.write(invite({ branch: "z9hG4bKelsewhere", callId: "elsewhere" }))
    for (const address of [stranger.address, "10.1.2.3"]) expect(receive(elsewhere, address).answers).toEqual([])
    expect(sighted()).toEqual(["banned", "banned"])
    // A trunk that was disabled, in such a network, ends its calls.
    const bye = SipWriter.write(invite({ method: "BYE", to: "<sip:+12025550150@192.0.2.1>;tag=ours" }))
    expect(receive(bye, stranger.address).taken).toEqual([stranger.address])
    // Its own trunks are let in whatever the operator banned.
    expect(receive(elsewhere, "192.0.2.2").taken).toEqual(["192.0.2.2"])
    pass(10_000)
    expect(statuses(receive(SipWriter.write(invite({ callId: "x" })), "10.1.2.3").answers)).toEqual([403])
    gate.bans.take([])
    expect(statuses(receive(SipWriter.write(invite({ callId: "x" })), stranger.address).answers)).toEqual([403])
  })

  it("is dropped unread when it sends what cannot be SIP", () => {
    const { receive, sighted } = make([])
    for (const bytes of [
      new Uint8Array(),
      new Uint8Array(4),
      Uint8Array.of(0x80, 0, 1, 2),
      new TextEncoder().encode("\r\n")
    ])
      expect(receive(bytes, stranger.address).answers).toEqual([])
    expect(sighted()).toEqual(["noise", "noise", "noise", "noise"])
  })

  it.effect("is counted for the operator", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("counted")
      const before = yield* metrics
      for (let times = 0; times < 12; times++)
        yield* rig.deliver(invite({ branch: `z9hG4bK${times}`, callId: `c${times}` }), stranger)
      yield* Rig.pass(2_000)
      const after = yield* metrics
      expect(after.map((value, at) => value - (before[at] ?? 0))).toEqual([10, 2])
    })
  )

  it.prop(
    "never opens a transaction and never gets more than it sent; a known peer and a dialog of ours always come through",
    { seed: Schema.Int },
    ({ seed }) => {
      const random = Random.make(seed)
      const { dialogs, layer, pass, receive } = make(["192.0.2.2", "2001:db8::2"])
      dialogs.add(MessageKey.dialog("ours", "ours", "bob"))
      const methods = ["INVITE", "ACK", "BYE", "CANCEL", "OPTIONS", "REGISTER", "INFO", "FOO"]
      for (let step = 0; step < 120; step++) {
        const address = ["192.0.2.2", "2001:db8::2", stranger.address, `203.0.113.${random.below(250)}`][
          random.below(4)
        ]
        if (address === undefined) continue
        const isKnown = address.startsWith("192.0.2.") || address.startsWith("2001")
        const isOurs = random.below(6) === 0
        const method = methods[random.below(methods.length)] ?? "INVITE"
        const callId = isOurs ? "ours" : `c${step}`
        const tag = isOurs ? ";tag=ours" : random.below(3) === 0 ? ";tag=forged" : ""
        const message = { method, branch: `z9hG4bK${step}`, callId, to: `<sip:+12025550150@192.0.2.1>${tag}` }
        const bytes = SipWriter.write(invite(message))
        const before = layer.size()
        const { answers, taken } = receive(bytes, address)
        if (isKnown || isOurs) {
          // A CANCEL of nothing is answered 481 by the table.
          expect(taken.length + (method === "CANCEL" ? 1 : 0)).toBe(1)
        } else {
          expect([taken, layer.size()]).toEqual([[], before])
          expect(answers.length).toBeLessThanOrEqual(1)
          for (const answer of answers) {
            expect(answer.bytes.length).toBeLessThanOrEqual(bytes.length)
            expect(answer.to).toBe(address)
          }
        }
        if (random.below(10) === 0) pass(random.below(1_000))
      }
    },
    { arbitrary: { runs: 60 } }
  )
})

/** Refused and dropped messages of strangers, in the format of Prometheus. */
const metrics = Effect.map(PrometheusMetrics.format(), (text) =>
  ["sip_strangers_refused_total", "sip_strangers_dropped_total"].map((name) =>
    Number(new RegExp(`^${name} ([0-9.]+)`, "m").exec(text)?.[1] ?? 0)
  )
)

/** An answered call of the trunk. */
const answered = Effect.gen(function* () {
  const rig = yield* Rig.make("gate")
  yield* rig.deliver(invite())
  yield* rig.command({ ...Rig.ofOffered(rig), type: "answer" })
  const response = Rig.responseOf(rig.sent(), 200)
  const hop = { sentBy: "192.0.2.2:5062", branch: "z9hG4bKgate-ack" }
  yield* rig.deliver(Dialog.acknowledge(dialogOf(response), invite(), hop, {}).request)
  rig.told()
  return { rig, response }
})

const dialogOf = (response: SipResponse): Dialog.Dialog =>
  Dialog.fromResponse(invite(), response) ?? expect.fail("no dialog")

const bye = (response: SipResponse, more: Partial<Requests.Extras> = {}) =>
  Dialog.request(dialogOf(response), "BYE", { sentBy: "198.51.100.9:5060", branch: "z9hG4bKgate-bye" }, more).request

describe("a known peer that floods", () => {
  it("is read as far as its budgets go: its calls go on, and another trunk is not touched", () => {
    const { dialogs, pass, receive, sighted } = make(["192.0.2.2", "192.0.2.3"])
    let serial = 0
    const flood = (count: number, more: Partial<Requests.Fields> = {}) => {
      let taken = 0
      for (let each = 0; each < count; each++) {
        const request = invite({ method: "OPTIONS", branch: `z9hG4bK${++serial}`, callId: `c${serial}`, ...more })
        taken += receive(SipWriter.write(request), "192.0.2.2").taken.length
      }
      return taken
    }
    expect(flood(3_000)).toBe(1_000)
    expect(sighted()).toEqual(Array(2_000).fill("peer flood"))
    dialogs.add(MessageKey.dialog("gate", "ours", "bob"))
    const bye = SipWriter.write(invite({ method: "BYE", to: "<sip:+12025550150@192.0.2.1>;tag=ours" }))
    expect(receive(bye, "192.0.2.2").taken).toEqual(["192.0.2.2"])
    const other = SipWriter.write(invite({ branch: "z9hG4bKother", callId: "other" }))
    expect(receive(other, "192.0.2.3").taken).toEqual(["192.0.2.3"])
    // Naming one of its calls gives it a wider budget, and no more.
    const ofCall = { method: "ACK", callId: "gate" }
    expect(flood(5_000, ofCall)).toBe(3_999)
    pass(1_000)
    expect([flood(3_000), flood(5_000, ofCall)]).toEqual([500, 2_000])
  })
})

describe("a call of a trunk", () => {
  it.effect("is ended from another address of its carrier", () =>
    Effect.gen(function* () {
      const { response, rig } = yield* answered
      yield* rig.deliver(bye(response), stranger)
      expect(Rig.names(rig.sent())).toEqual(["200"])
      expect(Rig.words(rig.told())).toEqual(["ended hangup - far"])
    })
  )

  it.effect("is ended from another address of its carrier, also when that address floods us and is banned", () =>
    Effect.gen(function* () {
      const { response, rig } = yield* answered
      // By now the transactions of the call are gone, and its dialog identifies it.
      yield* Rig.pass(40_000)
      const bytes = SipWriter.write(invite({ branch: "z9hG4bKflood", callId: "flood" }))
      for (let each = 0; each < 1_000; each++) rig.deliverBytes(bytes, stranger)
      rig.sent()
      rig.deliverBytes(bytes, stranger)
      expect(rig.sent()).toEqual([])
      yield* rig.deliver(bye(response), stranger)
      expect(Rig.names(rig.sent())).toEqual(["200"])
      expect(Rig.words(rig.told())).toEqual(["ended hangup - far"])
      // After that the call is unknown.
      yield* Rig.pass(40_000)
      yield* rig.deliver(bye(response, { headers: [["X", "again"]] }), stranger)
      expect(rig.sent()).toEqual([])
    })
  )

  it.effect("is ended when its trunk was deleted meanwhile, which calls no more", () =>
    Effect.gen(function* () {
      const { response, rig } = yield* answered
      yield* rig.know([])
      yield* rig.deliver(invite({ branch: "z9hG4bKnext", callId: "next" }))
      expect(Rig.names(rig.sent())).toEqual(["403"])
      yield* rig.deliver(bye(response))
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )

  it.effect("is not ended by whoever does not know our tag", () =>
    Effect.gen(function* () {
      const { response, rig } = yield* answered
      const forged = bye(response)
      const headers = forged.headers.map(([name, value]) =>
        name === "To" ? ([name, value.replace(/tag=.*/, "tag=guessed")] as const) : ([name, value] as const)
      )
      yield* rig.deliver({ ...forged, headers }, stranger)
      expect(Rig.names(rig.sent())).toEqual(["481"])
      expect(rig.told()).toEqual([])
    })
  )

  it.effect("is taken as soon as the table names its address", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("gate")
      yield* rig.know([Rig.peer.address, stranger.address])
      yield* rig.deliver(invite(), stranger)
      expect(rig.offers).toMatchObject([{ source: stranger.address }])
    })
  )

  it.effect("is cancelled from another address, by the branch of its INVITE", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("gate")
      yield* rig.deliver(invite())
      rig.sent()
      yield* rig.deliver(Requests.cancel(invite()), stranger)
      expect(Rig.names(rig.sent())).toEqual(["200", "487"])
    })
  )
})
