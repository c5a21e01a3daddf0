import { describe, expect, it } from "@effect/vitest"
import * as InviteClient from "../../../../src/protocol/sip/transaction/InviteClientTransaction.ts"
import { header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Timers from "../../../../src/protocol/sip/transaction/Timers.ts"
import * as MachineTable from "../../../support/MachineTable.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const invite = SipSample.request("INVITE")
const answer = (status: number): InviteClient.Input => ({
  type: "response",
  response: SipSample.response(invite, status)
})

const machine: MachineTable.Machine<InviteClient.State, InviteClient.Input> = {
  start: () => InviteClient.start(invite, 0),
  step: InviteClient.step,
  inputs: {
    "1xx": answer(180),
    "2xx": answer(200),
    "3xx-6xx": answer(486),
    cancelled: { type: "cancelled" },
    "transport error": { type: "transportError" }
  },
  timers: ["A", "B", "D", "M"],
  reach: {
    calling: [],
    proceeding: ["1xx"],
    accepted: ["2xx"],
    completed: ["3xx-6xx"],
    terminated: ["transport error"]
  },
  rows: [
    ["calling", "A", "calling", "send INVITE"],
    ["calling", "B", "terminated", "failed timeout", "terminated"],
    ["calling", "1xx", "proceeding", "deliver 180"],
    ["calling", "2xx", "accepted", "deliver 200"],
    ["calling", "3xx-6xx", "completed", "deliver 486", "send ACK"],
    ["calling", "transport error", "terminated", "failed transport", "terminated"],
    ["proceeding", "1xx", "proceeding", "deliver 180"],
    ["proceeding", "2xx", "accepted", "deliver 200"],
    ["proceeding", "3xx-6xx", "completed", "deliver 486", "send ACK"],
    ["proceeding", "cancelled", "proceeding"],
    ["accepted", "2xx", "accepted", "deliver 200"],
    ["accepted", "M", "terminated", "terminated"],
    ["completed", "3xx-6xx", "completed", "send ACK"],
    ["completed", "D", "terminated", "terminated"],
    ["completed", "transport error", "terminated", "failed transport", "terminated"]
  ]
}

MachineTable.describeTable("INVITE client transaction, RFC 6026 figure 5", machine)

describe("INVITE client transaction", () => {
  it("sends seven times in 32 seconds and then fails", () => {
    const run = MachineTable.elapse(machine, { ...InviteClient.start(invite, 0), now: 0, outputs: [] }, 60_000)
    expect(run.outputs.map(({ at, said }) => `${at} ${said}`)).toEqual([
      "500 send INVITE",
      "1500 send INVITE",
      "3500 send INVITE",
      "7500 send INVITE",
      "15500 send INVITE",
      "31500 send INVITE",
      "32000 failed timeout",
      "32000 terminated"
    ])
  })

  it("fails 64*T1 after its CANCEL when nothing final comes", () => {
    const ringing = InviteClient.step(InviteClient.start(invite, 0).state, answer(180), 100).state
    expect(ringing.deadlines).toEqual([])
    const cancelled = InviteClient.step(ringing, { type: "cancelled" }, 5_000).state
    expect(cancelled.deadlines).toEqual([{ timer: "B", at: 37_000 }])
    expect(SipSample.words(InviteClient.step(cancelled, { type: "due" }, 37_000).outputs)).toEqual([
      "failed timeout",
      "terminated"
    ])
  })

  it("acknowledges a failure with the INVITE's branch, URI, From and number, and the response's To", () => {
    const routed = SipSample.request("INVITE", {
      cseq: 7,
      routes: ["<sip:proxy;lr>"],
      headers: [["Authorization", "x"]]
    })
    const { state } = InviteClient.start(routed, 0)
    const response = SipSample.response(routed, 486)
    const ack = InviteClient.step(state, { type: "response", response }, 1).outputs.at(-1)
    if (ack?.type !== "send" || ack.message.type !== "request") throw new Error("no ACK")
    expect(ack.message.uri).toBe(routed.uri)
    for (const name of ["Via", "From", "Call-ID", "Route", "Authorization"])
      expect(header(ack.message, name)).toBe(header(routed, name))
    expect(header(ack.message, "To")).toBe("<sip:bob@192.0.2.2>;tag=bob")
    expect(header(ack.message, "CSeq")).toBe("7 ACK")
  })

  it("neither retransmits nor lingers over a reliable transport", () => {
    const { state } = InviteClient.start(invite, 0, Timers.make({ reliable: true }))
    expect(state.deadlines).toEqual([{ timer: "B", at: 32_000 }])
    expect(InviteClient.step(state, answer(486), 10).state.deadlines).toEqual([{ timer: "D", at: 10 }])
  })

  it("does nothing before its time", () => {
    const { state } = InviteClient.start(invite, 0)
    expect(InviteClient.step(state, { type: "due" }, 499)).toEqual({ state, outputs: [] })
  })

  it("taken up after a restart sends nothing and acknowledges a late 487", () => {
    const resumed = InviteClient.resume(invite, 0)
    expect(resumed.outputs).toEqual([])
    expect(SipSample.words(InviteClient.step(resumed.state, answer(487), 5).outputs)).toEqual([
      "deliver 487",
      "send ACK"
    ])
  })

  it.prop(
    "terminates within 64*T1 of its last word whatever comes, and sends INVITE at most seven times",
    { history: MachineTable.histories([...Object.keys(machine.inputs), "nothing"]) },
    ({ history }) => {
      const run = MachineTable.live(machine, [...history, { column: "cancelled", afterMs: 0 }])
      expect(run.outputs.filter(({ said }) => said === "send INVITE").length).toBeLessThanOrEqual(7)
      expect(MachineTable.elapse(machine, run, run.now + 32_000).state.phase).toBe("terminated")
    },
    { arbitrary: { runs: 300 } }
  )
})
