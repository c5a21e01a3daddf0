import { expect, it } from "@effect/vitest"
import * as SuccessRetransmission from "../../../../src/protocol/sip/transaction/SuccessRetransmission.ts"
import * as MachineTable from "../../../support/MachineTable.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const ok = SipSample.response(SipSample.request("INVITE", { cseq: 7 }), 200)
const ack = (cseq: number): SuccessRetransmission.Input => ({
  type: "ack",
  request: SipSample.request("ACK", { cseq })
})

const machine: MachineTable.Machine<SuccessRetransmission.State, SuccessRetransmission.Input> = {
  start: () => SuccessRetransmission.start(ok, 0),
  step: SuccessRetransmission.step,
  inputs: { ACK: ack(7), "ACK of another INVITE": ack(6) },
  timers: ["retransmit", "giveUp"],
  reach: { unacknowledged: [], terminated: ["ACK"] },
  rows: [
    ["unacknowledged", "ACK", "terminated", "terminated"],
    ["unacknowledged", "retransmit", "unacknowledged", "send 200"],
    ["unacknowledged", "giveUp", "terminated", "failed timeout", "terminated"]
  ]
}

MachineTable.describeTable("2xx until ACK, RFC 3261 section 13.3.1.4", machine)

it("repeats the 2xx from T1 up to T2 and gives up after 64*T1", () => {
  const run = MachineTable.elapse(machine, { ...SuccessRetransmission.start(ok, 0), now: 0, outputs: [] }, 60_000)
  expect(run.outputs.map(({ at, said }) => `${at} ${said}`)).toEqual([
    ...[500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500].map((at) => `${at} send 200`),
    "32000 failed timeout",
    "32000 terminated"
  ])
})
