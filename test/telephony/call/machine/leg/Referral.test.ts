import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { Body } from "../../../../../src/telephony/verb/Verb.ts"
import { refer } from "../../../../../src/telephony/call/verb/Connect.ts"
import type { LegReport } from "../../../../../src/carrier/Carrier.ts"
import * as Sample from "../../CallSample.ts"

/** Referrals, guide/calls.md#refer. */
const t0 = 1_000_000
const talking = () => Sample.carrier(Sample.start(Sample.place(), t0), { type: "answered", resume: null }, t0 + 1000)
const asked = () => Sample.act(talking(), "refer", { sip_address: "sip:bob@example.com" }, t0 + 2000)

const told = (
  scene: Sample.Scene,
  status: "accepted" | "completed" | "failed",
  sipStatus: number | null,
  now: number
): Sample.Scene => {
  const pending = scene.state.pending.find(({ type }) => type === "refer")
  const commandId = pending?.commandId ?? Sample.commands(scene).at(-1)?.commandId
  expect.assert(commandId !== undefined)
  return Sample.carrier(scene, { type: "referred", commandId, status, sipStatus }, now)
}
const bye: LegReport = { type: "ended", cause: "hangup", sipStatus: null, by: "far" }
const event = (scene: Sample.Scene) => {
  const found = Sample.events(scene).find(({ type }) => type === "call.refer_completed" || type === "call.refer_failed")
  if (found?.type === "call.refer_completed") return `completed ${found.data.sipStatus}`
  return found?.type === "call.refer_failed" ? `${found.data.reason} ${found.data.sipStatus}` : null
}
const ended = ({ state }: Sample.Scene) => `${state.status} ${state.endReason} ${state.endInitiator}`

describe("A referral", () => {
  it("asks the far end, which is connected elsewhere and hangs up", () => {
    const scene = asked()
    expect(scene.effects.at(-1)?.commands).toMatchObject([{ type: "refer", to: "sip:bob@example.com" }])
    const done = told(told(scene, "accepted", 202, t0 + 2100), "completed", 200, t0 + 5000)
    expect(event(done)).toBe("completed 200")
    expect(done.state.status).toBe("answered")
    const over = Sample.carrier(done, bye, t0 + 5500)
    expect(ended(over)).toBe("ended normal_clearing callee")
    expect(Sample.types(over).slice(-2)).toEqual(["call.refer_completed", "call.ended"])
  })

  it("that is completed ends the call after five seconds where the far end does not", () => {
    const done = told(told(asked(), "accepted", 202, t0 + 2100), "completed", 200, t0 + 5000)
    const over = Sample.wait(done)
    expect(over.state.endedAt).toBe(t0 + 10_000)
    expect(ended(over)).toBe("ended normal_clearing api")
    expect(Sample.types(over).filter((type) => type.startsWith("call.refer")).length).toBe(1)
  })

  it("that the far end follows without a report is completed by its BYE", () => {
    const over = Sample.carrier(told(asked(), "accepted", 202, t0 + 2100), bye, t0 + 3000)
    expect(event(over)).toBe("completed null")
    expect(Sample.types(over).at(-1)).toBe("call.ended")
  })

  it("leaves the call as it was when it is refused, or not connected", () => {
    const refused = told(asked(), "failed", 603, t0 + 2100)
    expect([event(refused), refused.state.status]).toEqual(["rejected 603", "answered"])
    const failed = told(told(asked(), "accepted", 202, t0 + 2100), "failed", 486, t0 + 4000)
    expect([event(failed), failed.state.pending.length]).toEqual(["failed 486", 0])
    expect(Sample.last(told(failed, "completed", 200, t0 + 4100))).toBe("unchanged")
  })

  it("has failed when nobody answers it, the call ends first, or the carrier has forgotten it", () => {
    const never = Sample.wait(asked())
    expect([event(never), never.state.at]).toEqual(["timeout null", t0 + 42_000])
    expect(event(told(asked(), "failed", null, t0 + 34_000))).toBe("timeout null")
    expect(event(Sample.carrier(asked(), bye, t0 + 2500))).toBe("call_ended null")
    expect(event(Sample.act(told(asked(), "accepted", 202, t0 + 2100), "hangup", {}, t0 + 2500))).toBe(
      "call_ended null"
    )
    const scene = asked()
    const found = Sample.send(scene, Sample.recovered(scene, "elsewhere", t0 + 3000), t0 + 4000)
    expect([event(found), found.state.status]).toEqual(["service_restarted null", "answered"])
  })

  it("has failed where the carrier cannot carry it out, and the call goes on", () => {
    const scene = asked()
    const [refer] = scene.state.pending
    expect.assert(refer !== undefined)
    const { commandId } = refer
    const failed = Sample.carrier(scene, { type: "command_failed", commandId, reason: "not_answered" }, t0 + 2100)
    expect([event(failed), failed.state.status, failed.state.pending]).toEqual(["carrier_error null", "answered", []])
  })

  it("is possible while answered, one at a time", () => {
    expect(Sample.last(Sample.act(asked(), "refer", { sip_address: "sip:a@b" }, t0 + 3000))).toBe("conflict")
    const placed = Sample.start(Sample.place(), t0)
    expect(Sample.last(Sample.act(placed, "refer", { sip_address: "sip:a@b" }, t0 + 1))).toBe(
      "call_not_in_required_state"
    )
  })

  const addresses: ReadonlyArray<readonly [string, boolean]> = [
    ["sip:bob@example.com", true],
    ["sips:bob@example.com:5061;transport=tls", true],
    ["sip:example.com", true],
    ["tel:+12025550100", false],
    ["bob@example.com", false],
    ["sip:", false],
    ["sip:bob@example.com?Replaces=1", false],
    ["sip:bob@example.com;method=BYE", false],
    ["sip:bob@example.com>\r\nX-Evil: 1", false],
    ["sip:bob@exa mple.com", false],
    [`sip:${"a".repeat(500)}@example.com`, false]
  ]
  for (const [address, isGood] of addresses)
    it(`${isGood ? "takes" : "refuses"} ${JSON.stringify(address.slice(0, 40))}`, () =>
      expect(Result.isSuccess(Schema.decodeUnknownResult<Body>(refer.body)({ sip_address: address }))).toBe(isGood))
})
