import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Flow } from "../../../../src/protocol/sip/Flow.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import { header, type SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import type * as TransactionInput from "../../../../src/protocol/sip/transaction/TransactionInput.ts"
import * as TransactionTable from "../../../../src/protocol/sip/transaction/TransactionTable.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const alice = SipSample.flow({ address: "192.0.2.1", port: 5060 })
const bob = SipSample.flow({ address: "192.0.2.2", port: 5060 })

const words = (outputs: ReadonlyArray<TransactionInput.Output>): ReadonlyArray<string> =>
  outputs.map((output) => {
    switch (output.type) {
      case "send":
        return `send ${SipSample.name(output.message)}`
      case "refuse":
        return `refuse ${SipSample.name(output.response)}`
      case "request":
      case "cancel":
      case "ack":
        return `${output.type} ${output.request.method}`
      case "response":
        return `response ${output.response.status}`
      case "failed":
      case "dropped":
        return `${output.type} ${output.reason}`
      case "ended":
        return "ended"
    }
  })

const receive = (table: TransactionTable.TransactionTable, message: SipRequest, now = 0, from = alice) =>
  TransactionTable.step(table, { type: "received", message, from }, now)

const idOf = (outputs: ReadonlyArray<TransactionInput.Output>): string => {
  for (const output of outputs) if ("id" in output && output.id !== null) return output.id
  throw new Error("no id")
}

const numbered = (index: number, method = "OPTIONS") =>
  SipSample.request(method, { branch: `z9hG4bK${index}`, callId: `call-${index}` })

const invite = SipSample.request("INVITE")

describe("matching", () => {
  it("gives a response to the transaction of its branch and method, RFC 3261 section 17.1.3", () => {
    const table = TransactionTable.make()
    const sent = TransactionTable.step(table, { type: "request", request: invite, to: bob }, 0)
    expect(words(sent)).toEqual(["send INVITE"])
    expect(idOf(sent)).toBe(TransactionTable.clientId(invite))
    const cancel = Requests.cancel(invite)
    TransactionTable.step(table, { type: "request", request: cancel, to: bob }, 10)
    const answer = (to: SipRequest, status: number) =>
      TransactionTable.step(table, { type: "received", message: SipSample.response(to, status), from: bob }, 20)
    expect(words(answer(cancel, 200))).toEqual(["response 200"])
    expect(words(answer(invite, 487))).toEqual(["response 487", "send ACK"])
  })

  it("drops a response that belongs to nothing, RFC 6026 section 7.2", () => {
    const stray = SipSample.response(invite, 200)
    expect(
      words(TransactionTable.step(TransactionTable.make(), { type: "received", message: stray, from: bob }, 0))
    ).toEqual(["dropped stray"])
  })

  it("absorbs a repeated request and repeats its answer", () => {
    const table = TransactionTable.make()
    const bye = SipSample.request("BYE")
    const first = receive(table, bye)
    expect(words(first)).toEqual(["request BYE"])
    expect(words(receive(table, bye))).toEqual([])
    const response = SipSample.response(bye, 200)
    expect(words(TransactionTable.step(table, { type: "respond", id: idOf(first), response }, 5))).toEqual(["send 200"])
    expect(words(receive(table, bye))).toEqual(["send 200"])
  })

  it("tells requests of one branch apart by sent-by", () => {
    const table = TransactionTable.make()
    expect(words(receive(table, numbered(1)))).toEqual(["request OPTIONS"])
    const other = SipSample.request("OPTIONS", { branch: "z9hG4bK1", sentBy: "192.0.2.9:5060", callId: "call-2" })
    expect(words(receive(table, other))).toEqual(["request OPTIONS"])
  })

  it("gives the ACK of a failure to the INVITE transaction and the ACK of a success to the dialog", () => {
    const table = TransactionTable.make()
    const id = idOf(receive(table, invite))
    const response = SipSample.response(invite, 486)
    TransactionTable.step(table, { type: "respond", id, response }, 5)
    expect(words(receive(table, Requests.ackFailure(invite, response), 10))).toEqual([])
    expect(words(TransactionTable.advance(table, 5_010))).toEqual(["ended"])
    expect(words(receive(table, SipSample.request("ACK", { branch: "z9hG4bKack" })))).toEqual(["ack ACK"])
  })

  it("finds the INVITE that a CANCEL means, and answers 481 when there is none", () => {
    const table = TransactionTable.make()
    const cancel = Requests.cancel(invite)
    expect(words(receive(table, cancel))).toEqual(["refuse 481"])
    const id = idOf(receive(table, invite))
    const [output] = receive(table, cancel)
    if (output?.type !== "cancel") throw new Error("no cancel")
    expect(output.invite).toBe(id)
    const ok = TransactionTable.step(
      table,
      { type: "respond", id: output.id, response: SipSample.response(cancel, 200) },
      5
    )
    expect(words(ok)).toEqual(["send 200"])
    expect(words(receive(table, cancel))).toEqual(["send 200"])
  })

  it("answers 482 to a copy that came by another path, until the first is done (section 8.2.2.2)", () => {
    const table = TransactionTable.make()
    const id = idOf(receive(table, invite))
    const copy = SipSample.request("INVITE", { branch: "z9hG4bKother" })
    const [refused] = receive(table, copy)
    if (refused?.type !== "refuse") throw new Error("not refused")
    expect(SipSample.name(refused.response)).toBe("482")
    expect(receive(table, copy)).toEqual([refused])
    TransactionTable.step(table, { type: "respond", id, response: SipSample.response(invite, 486) }, 0)
    TransactionTable.advance(table, 60_000)
    expect(words(receive(table, copy, 60_000))).toEqual(["request INVITE"])
  })

  it("knows a request without magic cookie by its From tag, Call-ID and CSeq", () => {
    const table = TransactionTable.make()
    const old = (callId: string) => SipSample.request("INVITE", { branch: "1", callId })
    const id = idOf(receive(table, old("a")))
    expect(words(receive(table, old("a")))).toEqual([])
    expect(words(receive(table, old("b")))).toEqual(["request INVITE"])
    const response = SipSample.response(old("a"), 486)
    TransactionTable.step(table, { type: "respond", id, response }, 0)
    expect(words(receive(table, Requests.ackFailure(old("a"), response)))).toEqual([])
  })

  it("answers to where the request came from, and says so in the Via (RFC 3581)", () => {
    const table = TransactionTable.make()
    const behindNat = SipSample.request("OPTIONS", { sentBy: "10.0.0.7:5060" })
    const from = SipSample.flow({ address: "198.51.100.4", port: 40_123 })
    const [told] = TransactionTable.step(table, { type: "received", message: behindNat, from }, 0)
    if (told?.type !== "request") throw new Error("not told")
    expect(header(told.request, "Via")).toMatch(
      /rport=40123;received=198\.51\.100\.4|received=198\.51\.100\.4;rport=40123/
    )
    const response = SipSample.response(told.request, 200)
    expect(TransactionTable.step(table, { type: "respond", id: told.id, response }, 0)).toMatchObject([
      { type: "send", to: from }
    ])
  })

  it("answers on the connection that the request came by, RFC 3261 section 18.2.2", () => {
    const table = TransactionTable.make()
    const options = SipSample.request("OPTIONS", { transport: "TCP", sentBy: "10.0.0.7:5070" })
    const remote = { address: "198.51.100.4", port: 40_123 }
    const from = { ...SipSample.flow(remote), transport: "tcp", connection: "c1" } as const
    const [told] = TransactionTable.step(table, { type: "received", message: options, from }, 0)
    if (told?.type !== "request") throw new Error("not told")
    const response = SipSample.response(told.request, 200)
    expect(TransactionTable.step(table, { type: "respond", id: told.id, response }, 0)).toMatchObject([
      // When the connection is gone, a new one leads to the port of sent-by.
      { type: "send", to: { transport: "tcp", connection: "c1", remote: { address: "198.51.100.4", port: 5070 } } }
    ])
  })

  it("refuses a second client transaction of the same branch", () => {
    const table = TransactionTable.make()
    TransactionTable.step(table, { type: "request", request: invite, to: bob }, 0)
    expect(words(TransactionTable.step(table, { type: "request", request: invite, to: bob }, 0))).toEqual([
      "failed duplicate"
    ])
  })
})

describe("bound", () => {
  it("answers 503 without state over the limit, but lets calls end", () => {
    const table = TransactionTable.make({ limit: 2 })
    receive(table, numbered(1))
    receive(table, numbered(2))
    const [refused] = receive(table, numbered(3))
    if (refused?.type !== "refuse") throw new Error("not refused")
    expect(SipSample.name(refused.response)).toBe("503")
    expect(header(refused.response, "Retry-After")).toBe("5")
    expect(words(TransactionTable.step(table, { type: "request", request: invite, to: bob }, 0))).toEqual([
      "failed full"
    ])
    expect(words(receive(table, numbered(4, "BYE")))).toEqual(["request BYE"])
    receive(table, numbered(5, "BYE"), 0, SipSample.flow({ address: "192.0.2.77", port: 5060 }))
    expect(words(receive(table, numbered(6, "BYE")))).toEqual(["refuse 503"])
    expect(TransactionTable.size(table)).toBe(4)
  })

  it("leaves room for other addresses and for us, whatever one address sends, and forgets who held it", () => {
    const table = TransactionTable.make({ limit: 40 })
    const flood = (from: Flow, first: number) => {
      for (let at = first; at < first + 100; at++) receive(table, numbered(at), 0, from)
      return TransactionTable.size(table)
    }
    const [one, two] = ["192.0.2.77", "192.0.2.78"].map((address) => SipSample.flow({ address, port: 5060 }))
    if (one === undefined || two === undefined) throw new Error("no flows")
    expect(flood(one, 1_000)).toBe(21)
    expect(flood(two, 2_000)).toBe(31)
    expect(words(receive(table, numbered(1)))).toEqual(["request OPTIONS"])
    expect(words(TransactionTable.step(table, { type: "request", request: invite, to: bob }, 0))).toEqual([
      "send INVITE"
    ])
    for (const id of table.entries.keys())
      TransactionTable.step(table, { type: "respond", id, response: SipSample.response(numbered(1), 200) }, 0)
    TransactionTable.advance(table, 100_000)
    expect([TransactionTable.size(table), table.shares.holders()]).toEqual([0, 0])
  })
})

describe("time", () => {
  it("has one deadline, the earliest of all", () => {
    const table = TransactionTable.make()
    expect(TransactionTable.nextDeadline(table)).toBeNull()
    TransactionTable.step(table, { type: "request", request: numbered(1), to: bob }, 1_000)
    TransactionTable.step(table, { type: "request", request: numbered(2), to: bob }, 900)
    TransactionTable.step(table, { type: "request", request: numbered(3), to: bob }, 1_100)
    expect(TransactionTable.nextDeadline(table)).toBe(1_400)
    expect(words(TransactionTable.advance(table, 1_500))).toEqual(["send OPTIONS", "send OPTIONS"])
    expect(TransactionTable.nextDeadline(table)).toBe(1_600)
  })

  it("comes to rest after a long sleep without sending what is out of date", () => {
    const table = TransactionTable.make()
    for (let index = 0; index < 1_000; index++)
      TransactionTable.step(table, { type: "request", request: numbered(index), to: bob }, index)
    const said = words(TransactionTable.advance(table, 1_000_000))
    expect(said.filter((word) => word === "failed timeout").length).toBe(1_000)
    expect(said.filter((word) => word === "send OPTIONS").length).toBe(1_000)
    expect(TransactionTable.size(table)).toBe(0)
    expect(TransactionTable.nextDeadline(table)).toBeNull()
  })

  it("ends a client transaction whose transport refuses", () => {
    const table = TransactionTable.make()
    const id = idOf(TransactionTable.step(table, { type: "request", request: invite, to: bob }, 0))
    expect(words(TransactionTable.step(table, { type: "transportError", id }, 1))).toEqual([
      "failed transport",
      "ended"
    ])
    expect(TransactionTable.nextDeadline(table)).toBeNull()
  })
})

describe("restart", () => {
  it("acknowledges the 487 to an INVITE of before", () => {
    const table = TransactionTable.make()
    expect(TransactionTable.step(table, { type: "resumeClient", request: invite, to: bob }, 0)).toEqual([])
    const late = SipSample.response(invite, 487)
    expect(words(TransactionTable.step(table, { type: "received", message: late, from: bob }, 9))).toEqual([
      "response 487",
      "send ACK"
    ])
  })

  it("answers an INVITE of before until it is acknowledged", () => {
    const table = TransactionTable.make()
    expect(TransactionTable.step(table, { type: "resumeServer", request: invite, from: alice }, 0)).toEqual([])
    const id = TransactionTable.serverId(invite)
    const response = SipSample.response(invite, 480)
    expect(words(TransactionTable.step(table, { type: "respond", id, response }, 1))).toEqual(["send 480"])
    expect(words(TransactionTable.advance(table, 501))).toEqual(["send 480"])
  })
})

const event = Schema.Struct({
  what: Schema.Literals(["INVITE", "ACK", "CANCEL", "BYE", "start", "respond", "answer", "refuse", "cancelled"]),
  index: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
  status: Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 699 })),
  afterMs: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5_000 }))
})

const play = (
  table: TransactionTable.TransactionTable,
  { what, index, status }: typeof event.Type,
  now: number,
  flow = bob
) => {
  const request = numbered(index, index % 2 === 0 ? "INVITE" : "OPTIONS")
  const client = TransactionTable.clientId(request)
  switch (what) {
    case "start":
      return TransactionTable.step(table, { type: "request", request, to: flow }, now)
    case "respond": {
      const id = TransactionTable.serverId(request)
      return TransactionTable.step(table, { type: "respond", id, response: SipSample.response(request, status) }, now)
    }
    case "answer":
      return TransactionTable.step(
        table,
        { type: "received", message: SipSample.response(request, status), from: flow },
        now
      )
    case "refuse":
      return TransactionTable.step(table, { type: "transportError", id: client }, now)
    case "cancelled":
      return TransactionTable.step(table, { type: "cancelled", id: client }, now)
    case "INVITE":
    case "ACK":
    case "CANCEL":
    case "BYE":
      return receive(table, numbered(index, what), now, flow)
  }
}

it.prop(
  "any history leaves every live transaction in place, its next deadline the true minimum, and nothing behind",
  { events: Schema.Array(event).check(Schema.isMaxLength(60)) },
  ({ events }) => {
    const table = TransactionTable.make({ limit: 4 })
    let now = 0
    for (const happening of events) {
      now += happening.afterMs
      TransactionTable.advance(table, now)
      play(table, happening, now)
      const all = [...table.entries.values()].flatMap((entry) => entry.machine.state.deadlines.map(({ at }) => at))
      expect(TransactionTable.nextDeadline(table)).toBe(all.length === 0 ? null : Math.min(...all))
      expect(TransactionTable.size(table)).toBeLessThanOrEqual(8)
      expect(table.merged.size).toBeLessThanOrEqual(table.entries.size)
      expect(table.heap.items.length).toBeLessThanOrEqual(table.entries.size)
    }
    // A silent peer cannot keep a transaction: the TU answers and cancels, then only timers run.
    for (const id of table.entries.keys()) {
      const response = SipSample.response(SipSample.request("INVITE"), 500)
      TransactionTable.step(table, { type: "respond", id, response }, now)
      TransactionTable.step(table, { type: "cancelled", id }, now)
    }
    TransactionTable.advance(table, now + 100_000)
    expect([table.entries.size, table.merged.size, table.heap.items.length]).toEqual([0, 0, 0])
  },
  { arbitrary: { runs: 300 } }
)

it.prop(
  "any history over a reliable transport repeats nothing by itself",
  { events: Schema.Array(event).check(Schema.isMaxLength(60)) },
  ({ events }) => {
    const table = TransactionTable.make()
    const connection = { ...bob, transport: "tcp", connection: "c1" } as const
    let now = 0
    for (const happening of events) {
      now += happening.afterMs
      const fired = words(TransactionTable.advance(table, now))
      expect(fired.filter((word) => word.startsWith("send") && word !== "send 100")).toEqual([])
      play(table, happening, now, connection)
    }
  },
  { arbitrary: { runs: 300 } }
)
