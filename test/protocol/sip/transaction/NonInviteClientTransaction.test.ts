import { describe, expect, it } from "@effect/vitest"
import * as NonInviteClient from "../../../../src/protocol/sip/transaction/NonInviteClientTransaction.ts"
import * as Timers from "../../../../src/protocol/sip/transaction/Timers.ts"
import * as MachineTable from "../../../support/MachineTable.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const bye = SipSample.request("BYE")
const answer = (status: number): NonInviteClient.Input => ({
  type: "response",
  response: SipSample.response(bye, status)
})

const machine: MachineTable.Machine<NonInviteClient.State, NonInviteClient.Input> = {
  start: () => NonInviteClient.start(bye, 0),
  step: NonInviteClient.step,
  inputs: { "1xx": answer(100), "2xx-6xx": answer(200), "transport error": { type: "transportError" } },
  timers: ["E", "F", "K"],
  reach: { trying: [], proceeding: ["1xx"], completed: ["2xx-6xx"], terminated: ["transport error"] },
  rows: [
    ["trying", "E", "trying", "send BYE"],
    ["trying", "F", "terminated", "failed timeout", "terminated"],
    ["trying", "1xx", "proceeding", "deliver 100"],
    ["trying", "2xx-6xx", "completed", "deliver 200"],
    ["trying", "transport error", "terminated", "failed transport", "terminated"],
    ["proceeding", "E", "proceeding", "send BYE"],
    ["proceeding", "F", "terminated", "failed timeout", "terminated"],
    ["proceeding", "1xx", "proceeding", "deliver 100"],
    ["proceeding", "2xx-6xx", "completed", "deliver 200"],
    ["proceeding", "transport error", "terminated", "failed transport", "terminated"],
    ["completed", "K", "terminated", "terminated"]
  ]
}

MachineTable.describeTable("non-INVITE client transaction, RFC 3261 figure 6", machine)

const sends = (run: MachineTable.Run<NonInviteClient.State>) =>
  run.outputs.filter(({ said }) => said === "send BYE").map(({ at }) => at)

describe("non-INVITE client transaction", () => {
  it("doubles up to T2 and fails after 64*T1", () => {
    const run = MachineTable.elapse(machine, { ...NonInviteClient.start(bye, 0), now: 0, outputs: [] }, 60_000)
    expect(sends(run)).toEqual([500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500])
    expect(run.outputs.at(-2)).toEqual({ at: 32_000, said: "failed timeout" })
  })

  it("retransmits every T2 once a provisional response has come", () => {
    const { state } = NonInviteClient.step(NonInviteClient.start(bye, 0).state, answer(100), 100)
    expect(sends(MachineTable.elapse(machine, { state, now: 100, outputs: [] }, 10_000))).toEqual([500, 4_500, 8_500])
  })

  it("sends once over a reliable transport", () => {
    const { state } = NonInviteClient.start(bye, 0, Timers.make({ reliable: true }))
    expect(state.deadlines).toEqual([{ timer: "F", at: 32_000 }])
    expect(NonInviteClient.step(state, answer(200), 7).state.deadlines).toEqual([{ timer: "K", at: 7 }])
  })

  it.prop(
    "terminates within 64*T1 + T4 whatever comes, and sends at most eleven times",
    { history: MachineTable.histories([...Object.keys(machine.inputs), "nothing"]) },
    ({ history }) => {
      const run = MachineTable.live(machine, history)
      expect(sends(run).length).toBeLessThanOrEqual(11)
      expect(MachineTable.elapse(machine, run, Math.max(run.now, 37_000)).state.phase).toBe("terminated")
    },
    { arbitrary: { runs: 300 } }
  )
})
