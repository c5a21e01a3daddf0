import { describe, expect, it } from "@effect/vitest"
import * as NonInviteServer from "../../../../src/protocol/sip/transaction/NonInviteServerTransaction.ts"
import * as Timers from "../../../../src/protocol/sip/transaction/Timers.ts"
import * as MachineTable from "../../../support/MachineTable.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const bye = SipSample.request("BYE")
const respond = (status: number): NonInviteServer.Input => ({
  type: "respond",
  response: SipSample.response(bye, status)
})

const machine: MachineTable.Machine<NonInviteServer.State, NonInviteServer.Input> = {
  start: () => NonInviteServer.start(bye, 0),
  step: NonInviteServer.step,
  inputs: {
    request: { type: "request", request: bye },
    "TU 1xx": respond(100),
    "TU 2xx-6xx": respond(200),
    "transport error": { type: "transportError" }
  },
  timers: ["J"],
  reach: { trying: [], proceeding: ["TU 1xx"], completed: ["TU 2xx-6xx"], terminated: ["TU 2xx-6xx", "J"] },
  rows: [
    ["trying", "TU 1xx", "proceeding", "send 100"],
    ["trying", "TU 2xx-6xx", "completed", "send 200"],
    ["proceeding", "request", "proceeding", "send 100"],
    ["proceeding", "TU 1xx", "proceeding", "send 100"],
    ["proceeding", "TU 2xx-6xx", "completed", "send 200"],
    ["proceeding", "transport error", "proceeding", "failed transport"],
    ["completed", "request", "completed", "send 200"],
    ["completed", "J", "terminated", "terminated"],
    ["completed", "transport error", "completed", "failed transport"]
  ]
}

MachineTable.describeTable("non-INVITE server transaction, RFC 3261 figure 8", machine)

describe("non-INVITE server transaction", () => {
  it("remembers its answer for 64*T1, over a reliable transport not at all", () => {
    const answered = (timers?: Timers.Timers) =>
      NonInviteServer.step(NonInviteServer.start(bye, 0, timers).state, respond(200), 10).state
    expect(answered().deadlines).toEqual([{ timer: "J", at: 32_010 }])
    expect(answered(Timers.make({ reliable: true })).deadlines).toEqual([{ timer: "J", at: 10 }])
  })

  it.prop(
    "terminates within 64*T1 of the final answer whatever comes",
    { history: MachineTable.histories([...Object.keys(machine.inputs), "nothing"]) },
    ({ history }) => {
      const run = MachineTable.live(machine, [...history, { column: "TU 2xx-6xx", afterMs: 0 }])
      expect(MachineTable.elapse(machine, run, run.now + 32_000).state.phase).toBe("terminated")
    },
    { arbitrary: { runs: 300 } }
  )
})
