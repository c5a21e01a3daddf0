import { describe, expect, it } from "@effect/vitest"
import * as InviteServer from "../../../../src/protocol/sip/transaction/InviteServerTransaction.ts"
import { header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Timers from "../../../../src/protocol/sip/transaction/Timers.ts"
import * as MachineTable from "../../../support/MachineTable.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const invite = SipSample.request("INVITE", { headers: [["Timestamp", "54"]] })
const respond = (status: number): InviteServer.Input => ({
  type: "respond",
  response: SipSample.response(invite, status)
})

const machine: MachineTable.Machine<InviteServer.State, InviteServer.Input> = {
  start: () => InviteServer.start(invite, 0),
  step: InviteServer.step,
  inputs: {
    INVITE: { type: "request", request: invite },
    ACK: { type: "request", request: SipSample.request("ACK") },
    "TU 1xx": respond(180),
    "TU 2xx": respond(200),
    "TU 3xx-6xx": respond(486),
    "transport error": { type: "transportError" }
  },
  timers: ["trying", "G", "H", "I", "L"],
  reach: {
    proceeding: [],
    accepted: ["TU 2xx"],
    completed: ["TU 3xx-6xx"],
    confirmed: ["TU 3xx-6xx", "ACK"],
    terminated: ["TU 2xx", "L"]
  },
  rows: [
    ["proceeding", "TU 1xx", "proceeding", "send 180"],
    ["proceeding", "TU 2xx", "accepted", "send 200"],
    ["proceeding", "TU 3xx-6xx", "completed", "send 486"],
    ["proceeding", "trying", "proceeding", "send 100"],
    ["proceeding", "transport error", "proceeding", "failed transport"],
    ["accepted", "ACK", "accepted", "deliver ACK"],
    ["accepted", "TU 2xx", "accepted", "send 200"],
    ["accepted", "L", "terminated", "terminated"],
    ["accepted", "transport error", "accepted", "failed transport"],
    ["completed", "INVITE", "completed", "send 486"],
    ["completed", "ACK", "confirmed"],
    ["completed", "G", "completed", "send 486"],
    ["completed", "H", "terminated", "failed timeout", "terminated"],
    ["completed", "transport error", "completed", "failed transport"],
    ["confirmed", "I", "terminated", "terminated"]
  ]
}

MachineTable.describeTable("INVITE server transaction, RFC 6026 figure 7", machine)

const started = InviteServer.start(invite, 0)

describe("INVITE server transaction", () => {
  it("passes the INVITE on and sends 100 after 200 ms, with the Timestamp and no To tag", () => {
    expect(SipSample.words(started.outputs)).toEqual(["deliver INVITE"])
    const [output] = InviteServer.step(started.state, { type: "due" }, 200).outputs
    if (output?.type !== "send") throw new Error("nothing sent")
    expect(header(output.message, "Timestamp")).toBe("54")
    expect(header(output.message, "To")).toBe("<sip:bob@192.0.2.2>")
  })

  it("sends no 100 once the user agent core has rung", () => {
    expect(InviteServer.step(started.state, respond(180), 50).state.deadlines).toEqual([])
  })

  it("answers a repeated INVITE with the last provisional response", () => {
    const ringing = InviteServer.step(started.state, respond(180), 50).state
    const again = InviteServer.step(ringing, { type: "request", request: invite }, 500)
    expect(SipSample.words(again.outputs)).toEqual(["send 180"])
  })

  it("repeats a failure after T1, doubling up to T2, until Timer H", () => {
    const { state } = InviteServer.step(started.state, respond(486), 0)
    const run = MachineTable.elapse(machine, { state, now: 0, outputs: [] }, 60_000)
    expect(run.outputs.filter(({ said }) => said === "send 486").map(({ at }) => at)).toEqual([
      500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500
    ])
    expect(run.outputs.slice(-2).map(({ said }) => said)).toEqual(["failed timeout", "terminated"])
  })

  it("does not repeat a failure over a reliable transport", () => {
    const reliable = InviteServer.start(invite, 0, Timers.make({ reliable: true })).state
    expect(InviteServer.step(reliable, respond(486), 0).state.deadlines).toEqual([{ timer: "H", at: 32_000 }])
  })

  it.prop(
    "terminates within 64*T1 + T4 of the final answer whatever comes",
    { history: MachineTable.histories([...Object.keys(machine.inputs), "nothing"]) },
    ({ history }) => {
      const run = MachineTable.live(machine, [...history, { column: "TU 3xx-6xx", afterMs: 0 }])
      expect(MachineTable.elapse(machine, run, run.now + 37_000).state.phase).toBe("terminated")
    },
    { arbitrary: { runs: 300 } }
  )
})
