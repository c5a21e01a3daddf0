import { describe, expect, it } from "@effect/vitest"
import type { LegEnd } from "../../../../src/carrier/Carrier.ts"
import * as LegEnding from "../../../../src/carrier/sip/leg/LegEnding.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const hangup: LegEnd = { cause: "hangup", sipStatus: null, by: "near" }
const lost: LegEnd = { cause: "error", sipStatus: null, by: "network" }
const bye = SipSample.request("BYE")
const owed = (id: string) => ({
  id,
  durable: Responses.make(bye, 200),
  lost: Responses.make(bye, 500)
})
const words = (step: LegEnding.Step) =>
  step.outputs.map((output) => (output.type === "end" ? output.end.cause : `${output.id} ${output.response.status}`))

describe("the end of a leg", () => {
  it("is told once: what is owed to those who wait is answered when it is through, to late ones at once", () => {
    const first = LegEnding.end(LegEnding.live, hangup, [owed("a")])
    const second = LegEnding.end(first.ending, lost, [owed("b")])
    const through = LegEnding.told(second.ending, "committed")
    const late = LegEnding.end(through.ending, lost, [owed("c")])
    expect([first, second, through, late].map(words)).toEqual([["hangup"], [], ["a 200", "b 200"], ["c 200"]])
    expect(words(LegEnding.told(late.ending, "committed"))).toEqual([])
  })

  it("that is not durable is not acknowledged", () => {
    const { ending } = LegEnding.end(LegEnding.live, hangup, [owed("a")])
    expect(words(LegEnding.told(ending, "fault"))).toEqual(["a 500"])
    expect(words(LegEnding.told(ending, "unknown"))).toEqual(["a 200"])
  })

  it("comes by itself some time after it was asked for, as it was asked for first", () => {
    const leaving = LegEnding.leave(LegEnding.leave(LegEnding.live, hangup, 1_000), lost, 2_000)
    expect(words(LegEnding.due(leaving, 8_999))).toEqual([])
    expect(words(LegEnding.due(leaving, 9_000))).toEqual(["hangup"])
    expect(words(LegEnding.due(LegEnding.end(leaving, lost).ending, 9_000))).toEqual([])
  })
})
