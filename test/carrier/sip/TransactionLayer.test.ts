import { describe, expect, it } from "@effect/vitest"
import * as PeerTable from "../../../src/carrier/peer/PeerTable.ts"
import * as IngressFilter from "../../../src/carrier/sip/ingress/IngressFilter.ts"
import * as TransactionLayer from "../../../src/carrier/sip/TransactionLayer.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"
import * as SipSample from "../../support/fake/SipSample.ts"

const peer = SipSample.flow({ address: "192.0.2.2", port: 5062 })

/** A transaction layer on a clock that the test moves, with the messages that it sent. */
const make = (server: Partial<TransactionLayer.ServerListener> = {}) => {
  let now = 0
  let alarm: number | undefined
  const sent: Array<string> = []
  const faults: Array<unknown> = []
  const refusals: Array<() => void> = []
  const peers = PeerTable.make()
  for (const part of PeerTable.snapshot(1, [peer.remote.address])) peers.take(part)
  const transactions = TransactionLayer.make({
    wire: {
      send: (bytes, _to, refused) => {
        sent.push(new TextDecoder().decode(bytes).split("\r\n")[0] ?? "")
        refusals.push(refused)
      }
    },
    alarm: {
      now: () => now,
      wakeAt: (at) => {
        alarm = at
      }
    },
    fault: (error) => faults.push(error),
    server: {
      request: () => {},
      cancel: () => {},
      ack: () => {},
      hasDialog: () => false,
      ownsCall: () => false,
      refused: () => {},
      ...server
    },
    stranger: () => {},
    gate: IngressFilter.make({ peers, now: () => now, wallMs: () => now })
  })
  return {
    transactions,
    sent,
    faults,
    refusals,
    /** Wakes the layer at each time that it requested, until `until`. */
    pass: (until: number) => {
      while (alarm !== undefined && alarm <= until) {
        now = Math.max(now, alarm)
        alarm = undefined
        transactions.wake()
      }
      now = until
    }
  }
}

describe("the transaction layer", () => {
  it("calls what was put off in order of time, and nothing that was taken back", () => {
    const { pass, transactions } = make()
    const seen: Array<string> = []
    transactions.after(300, () => seen.push("c"))
    transactions.after(100, () => seen.push("a"))
    const takeBack = transactions.after(200, () => seen.push("b"))
    takeBack()
    pass(250)
    expect(seen).toEqual(["a"])
    pass(1_000)
    expect(seen).toEqual(["a", "c"])
  })

  it("does what a listener asks for after it has returned", () => {
    const order: Array<string> = []
    const { transactions } = make({
      request: (id, request) => {
        transactions.respond(id, SipSample.response(request, 200))
        order.push(`returned after ${transactions.counters.sent} sent`)
      }
    })
    transactions.receive(SipWriter.write(SipSample.request("OPTIONS")), peer)
    expect(order).toEqual(["returned after 0 sent"])
    expect(transactions.counters.sent).toBe(1)
  })

  it("survives a fault of a listener or a timer, counts it and goes on", () => {
    const { faults, pass, transactions } = make({
      request: () => {
        throw new Error("a fault")
      }
    })
    transactions.receive(SipWriter.write(SipSample.request("OPTIONS")), peer)
    transactions.after(10, () => {
      throw new Error("another")
    })
    let later = false
    transactions.after(20, () => {
      later = true
    })
    pass(1_000)
    expect(faults).toHaveLength(2)
    expect(transactions.counters.faults).toBe(2)
    expect(later).toBe(true)
  })

  it("fails a request that the socket refuses", () => {
    const { refusals, transactions } = make()
    const failures: Array<string> = []
    transactions.request(SipSample.request("OPTIONS"), peer, {
      response: () => {},
      failed: (reason) => failures.push(reason)
    })
    refusals[0]?.()
    expect(failures).toEqual(["transport"])
    expect(transactions.counters.sendErrors).toBe(1)
  })

  it("fails a request whose branch is in use", () => {
    const { transactions } = make()
    const failures: Array<string> = []
    const listener = { response: () => {}, failed: (reason: string) => failures.push(reason) }
    transactions.request(SipSample.request("OPTIONS"), peer, listener)
    transactions.request(SipSample.request("OPTIONS"), peer, listener)
    expect(failures).toEqual(["duplicate"])
  })

  it("answers a faulty request without state, and drops what cannot be answered", () => {
    const { sent, transactions } = make()
    transactions.receive(
      new TextEncoder().encode("OPTIONS sip:h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK1\r\n\r\n"),
      peer
    )
    transactions.receive(new TextEncoder().encode("OPTIONS sip:h SIP/2.0\r\n\r\n"), peer)
    transactions.receive(new TextEncoder().encode("nothing"), peer)
    expect(sent).toEqual(["SIP/2.0 400 Missing From"])
    expect(transactions.counters).toMatchObject({ rejected: 1, dropped: 2 })
    expect(transactions.size()).toBe(0)
  })
})
