import { describe, expect, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as PeerTable from "../../../../src/carrier/PeerTable.ts"
import * as AddressBuckets from "../../../../src/carrier/sip/gate/AddressBuckets.ts"
import * as Gate from "../../../../src/carrier/sip/gate/Gate.ts"
import * as TransactionLayer from "../../../../src/carrier/sip/TransactionLayer.ts"
import * as Dialog from "../../../../src/sip/dialog/Dialog.ts"
import * as MessageKey from "../../../../src/sip/message/MessageKey.ts"
import * as Requests from "../../../../src/sip/message/Requests.ts"
import * as Responses from "../../../../src/sip/message/Responses.ts"
import { header, type SipRequest, type SipResponse } from "../../../../src/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/sip/message/SipParser.ts"
import * as SipWriter from "../../../../src/sip/message/SipWriter.ts"
import * as Random from "../../../support/Random.ts"
import * as SipSample from "../../../support/SipSample.ts"
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
  const rows: ReadonlyArray<readonly [what: string, facts: Partial<Gate.Facts>, verdict: string | number]> = [
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
      const judged = Gate.judge({ ...facts, ...some })
      expect(judged.type === "refuse" ? judged.status : judged.type).toBe(verdict)
    })
})

/** A transaction layer that answers every request with 200, and what went through it. */
const make = (known: ReadonlyArray<string> | null) => {
  let now = 0
  const peers = PeerTable.make()
  if (known !== null) for (const part of PeerTable.snapshot(1, known)) peers.take(part)
  const sent: Array<{ readonly bytes: Uint8Array; readonly to: string }> = []
  const taken: Array<string> = []
  const dialogs = new Set<string>()
  const layer: TransactionLayer.TransactionLayer = TransactionLayer.make({
    wire: { send: (bytes, to) => sent.push({ bytes, to: to.remote.address }) },
    alarm: { now: () => now, wakeAt: () => {} },
    fault: (error) => {
      throw error
    },
    stranger: () => {},
    gate: Gate.make(peers, AddressBuckets.make()),
    server: {
      request: (id, request, from) => {
        taken.push(from.remote.address)
        layer.respond(id, Responses.make(request, 200, { toTag: "ours" }))
      },
      cancel: () => {},
      ack: (_, from) => taken.push(from.remote.address),
      hasDialog: (request) => dialogs.has(MessageKey.dialogOfRequest(request)),
      refused: () => {}
    }
  })
  return {
    layer,
    dialogs,
    /** What became of it: bytes of the answers, and whether it came through. */
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
    const { layer, pass, receive } = make(["192.0.2.2"])
    const seen: Array<unknown> = []
    for (let times = 0; times < 30; times++) {
      const request = SipWriter.write(invite({ branch: `z9hG4bK${times}`, callId: `c${times}` }))
      seen.push(...statuses(receive(request, stranger.address).answers))
    }
    expect(seen).toEqual(Array.from({ length: 10 }, () => 403))
    expect(layer.size()).toBe(0)
    expect(layer.counters).toMatchObject({ strangersRefused: 10, strangersDropped: 20 })
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
    const { layer, receive } = make([])
    const short =
      "OPTIONS sip:a SIP/2.0\r\nv:SIP/2.0/UDP h;branch=z9hG4bK1\r\nf:<a:b>\r\nt:<a:b>\r\ni:1\r\nCSeq:1 OPTIONS\r\n\r\n"
    expect(receive(new TextEncoder().encode(short), stranger.address).answers).toEqual([])
    expect(layer.counters.strangersDropped).toBe(1)
  })

  it("gets no answer to what is faulty, and what is longer than any request of ours is not read", () => {
    const { layer, receive } = make(["192.0.2.2"])
    const faulty = new TextEncoder().encode(
      `OPTIONS sip:h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK1\r\nX: ${"x".repeat(200)}\r\n`
    )
    const long = SipWriter.write(invite({ headers: [["X", "x".repeat(8_000)]] }))
    expect(receive(faulty, stranger.address).answers).toEqual([])
    expect(receive(long, stranger.address).answers).toEqual([])
    expect(layer.counters).toMatchObject({ strangersDropped: 2, rejected: 0 })
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

/** Strangers refused and dropped, as Prometheus reads them. */
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

describe("a call of a trunk", () => {
  it.effect("is ended from another address of its carrier", () =>
    Effect.gen(function* () {
      const { response, rig } = yield* answered
      yield* rig.deliver(bye(response), stranger)
      expect(Rig.names(rig.sent())).toEqual(["200"])
      expect(Rig.words(rig.told())).toEqual(["ended hangup - far"])
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
