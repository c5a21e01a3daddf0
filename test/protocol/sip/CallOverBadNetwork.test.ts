/**
 * Two user agents that consist of tables and dialogs alone, over a network that loses, delays, duplicates and reorders.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Dialog from "../../../src/protocol/sip/dialog/Dialog.ts"
import * as Responses from "../../../src/protocol/sip/message/Responses.ts"
import type { Endpoint, SipMessage } from "../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"
import * as SuccessRetransmission from "../../../src/protocol/sip/transaction/SuccessRetransmission.ts"
import * as Transaction from "../../../src/protocol/sip/transaction/Transaction.ts"
import type * as TransactionInput from "../../../src/protocol/sip/transaction/TransactionInput.ts"
import * as TransactionTable from "../../../src/protocol/sip/transaction/TransactionTable.ts"
import * as Netem from "../../support/network/Netem.ts"
import * as SipSample from "../../support/fake/SipSample.ts"

const alice: Endpoint = { address: "192.0.2.1", port: 5060 }
const bob: Endpoint = { address: "192.0.2.2", port: 5062 }

interface Packet {
  readonly from: Endpoint
  readonly to: Endpoint
  readonly bytes: Uint8Array
}

interface Agent {
  readonly nextDeadline: () => number
  readonly advance: (now: number) => void
  readonly receive: (packet: Packet, now: number) => void
}

type Tell = (output: Exclude<TransactionInput.Output, { type: "send" }>, now: number) => void

/** A transaction table with its wire, and an agenda of its user's own actions. */
const endpoint = (self: Endpoint, net: Netem.Netem<Packet>) => {
  const table = TransactionTable.make()
  const agenda: Array<{ readonly at: number; readonly act: (now: number) => void }> = []
  let tell: Tell = () => undefined
  const put = (message: SipMessage, to: Endpoint, now: number) => {
    net.send({ from: self, to, bytes: SipWriter.write(message) }, now)
  }
  const run = (outputs: ReadonlyArray<TransactionInput.Output>, now: number): void => {
    for (const output of outputs) {
      if (output.type === "send") put(output.message, output.to.remote, now)
      else if (output.type === "refuse") put(output.response, output.to.remote, now)
      else tell(output, now)
    }
  }
  return {
    table,
    put,
    onTold: (handler: Tell) => {
      tell = handler
    },
    later: (at: number, act: (now: number) => void) => agenda.push({ at, act }),
    step: (input: TransactionInput.Input, now: number) => run(TransactionTable.step(table, input, now), now),
    nextDeadline: () => Math.min(TransactionTable.nextDeadline(table) ?? Infinity, ...agenda.map(({ at }) => at)),
    advance: (now: number) => {
      run(TransactionTable.advance(table, now), now)
      for (const due of agenda.filter(({ at }) => at <= now)) {
        agenda.splice(agenda.indexOf(due), 1)
        due.act(now)
      }
    },
    receive: (packet: Packet, now: number) => {
      const message = Result.getOrThrow(SipParser.parse(packet.bytes))
      run(
        TransactionTable.step(table, { type: "received", message, from: SipSample.flow(packet.from, self) }, now),
        now
      )
    }
  }
}

/** Rings Bob, acknowledges each 2xx, hangs up two seconds after the first. */
const caller = (net: Netem.Netem<Packet>, seen: Array<string>) => {
  const end = endpoint(alice, net)
  const invite = SipSample.request("INVITE", { uri: "sip:bob@192.0.2.2:5062" })
  let dialog: Dialog.Dialog | null = null
  const hangUp = (now: number) => {
    if (dialog === null) return
    const built = Dialog.request(dialog, "BYE", { sentBy: "192.0.2.1:5060", branch: "z9hG4bKbye" })
    dialog = built.dialog
    end.step({ type: "request", request: built.request, to: SipSample.flow(bob) }, now)
  }
  end.onTold((output, now) => {
    if (output.type === "failed") seen.push(`alice failed ${output.reason}`)
    if (output.type !== "response") return
    if (output.id !== TransactionTable.clientId(invite)) {
      seen.push(`bye ${output.response.status}`)
      return
    }
    const { response } = output
    dialog ??= Dialog.fromResponse(invite, response)
    if (dialog === null || response.status < 200) return
    const repeated = Dialog.acknowledged(dialog, response)
    if (repeated !== null) return end.put(repeated, bob, now)
    const built = Dialog.acknowledge(Dialog.succeeded(dialog, response), invite, {
      sentBy: "192.0.2.1:5060",
      branch: "z9hG4bKack"
    })
    dialog = built.dialog
    seen.push("answered")
    end.put(built.request, bob, now)
    end.later(now + 2_000, hangUp)
  })
  end.later(0, (now) => end.step({ type: "request", request: invite, to: SipSample.flow(bob) }, now))
  return end
}

/** Rings at once, answers after a second, repeats its 200 until the ACK, answers BYE. */
const phone = (net: Netem.Netem<Packet>, seen: Array<string>) => {
  const end = endpoint(bob, net)
  const contact = "<sip:bob@192.0.2.2:5062>"
  let dialog: Dialog.Dialog | null = null
  let success: SuccessRetransmission.State | null = null
  const care = (id: string, step: SuccessRetransmission.Step, now: number): void => {
    success = step.state
    for (const output of step.outputs) {
      if (output.type === "send" && output.message.type === "response")
        end.step({ type: "respond", id, response: output.message }, now)
      if (output.type === "failed") seen.push("no ACK")
      if (output.type === "terminated" && step.outputs.length === 1) seen.push("acknowledged")
    }
    const next = Transaction.earliest(step.state.deadlines)
    if (next !== null)
      end.later(next.at, (now) => {
        if (success === step.state) care(id, SuccessRetransmission.step(step.state, { type: "due" }, now), now)
      })
  }
  end.onTold((output, now) => {
    if (output.type === "failed") seen.push(`bob failed ${output.reason}`)
    if (output.type === "ack" && success !== null && success.phase !== "terminated")
      care("", SuccessRetransmission.step(success, { type: "ack", request: output.request }, now), now)
    if (output.type !== "request") return
    const { id, request } = output
    if (request.method === "INVITE") {
      seen.push("rang")
      dialog = Dialog.fromRequest(request, { localTag: "bob", contact, cseq: 1 })
      end.step({ type: "respond", id, response: Responses.make(request, 180, { toTag: "bob", contact }) }, now)
      end.later(now + 1_000, (now) => {
        const response = Responses.make(request, 200, { toTag: "bob", contact })
        end.step({ type: "respond", id, response }, now)
        care(id, SuccessRetransmission.start(response, now), now)
      })
    } else if (request.method === "BYE" && dialog !== null) {
      seen.push(`hung up ${Dialog.receive(dialog, request).verdict}`)
      end.step({ type: "respond", id, response: Responses.make(request, 200) }, now)
    }
  })
  return end
}

const call = (options: Netem.Options) => {
  const net = Netem.make<Packet>(options)
  const seen: Array<string> = []
  const agents = [caller(net, seen), phone(net, seen)] as const
  const ends: ReadonlyArray<readonly [Endpoint, Agent]> = [
    [alice, agents[0]],
    [bob, agents[1]]
  ]
  let now = 0
  while (true) {
    now = Math.min(net.nextAt() ?? Infinity, ...agents.map((agent) => agent.nextDeadline()))
    if (now === Infinity) break
    for (const packet of net.arrived(now))
      for (const [self, agent] of ends) if (packet.to.address === self.address) agent.receive(packet, now)
    for (const agent of agents) agent.advance(now)
  }
  return { seen: seen.toSorted(), net, left: agents.map(({ table }) => TransactionTable.size(table)) }
}

const whole = ["acknowledged", "answered", "bye 200", "hung up inOrder", "rang"]

describe("a call over a bad network", () => {
  it("takes six messages when nothing goes wrong", () => {
    const { seen, net } = call({ seed: 1, delayMs: 20 })
    expect(seen).toEqual(whole)
    // INVITE, 180, 200, ACK, BYE, 200
    expect(net.counts.sent).toBe(6)
  })

  it("completes under 20 % loss, doubled and reordered packets, once, and leaves nothing behind", () => {
    let lost = 0
    for (let seed = 1; seed <= 200; seed++) {
      const { seen, net, left } = call({ seed, loss: 0.2, duplicate: 0.1, delayMs: 20, jitterMs: 300 })
      expect([seed, ...seen]).toEqual([seed, ...whole])
      expect(left).toEqual([0, 0])
      lost += net.counts.lost
    }
    expect(lost).toBeGreaterThan(200)
  })

  it("fails after 64*T1 when nothing gets through", () => {
    const { seen, net, left } = call({ seed: 1, loss: 1 })
    expect(seen).toEqual(["alice failed timeout"])
    expect(net.counts.sent).toBe(7)
    expect(left).toEqual([0, 0])
  })
})
