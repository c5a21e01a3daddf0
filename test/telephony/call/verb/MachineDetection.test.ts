import { describe, expect, it } from "@effect/vitest"
import * as Id from "../../../../src/domain/Id.ts"
import * as MachineDetectionView from "../../../../src/telephony/call/MachineDetectionView.ts"
import * as Meter from "../../../../src/telephony/call/machine/Meter.ts"
import type { Verdict } from "../../../../src/ports/media/DetectionMessages.ts"
import * as CallSetup from "../../../../src/telephony/call/machine/CallSetup.ts"
import * as WorkPrice from "../../../../src/domain/WorkPrice.ts"
import * as Sample from "../CallSample.ts"

const placed = () =>
  Sample.start(
    Sample.place({
      terms: Sample.terms({
        plan: { ...CallSetup.nothing, machineDetection: "premium" },
        prices: { ...WorkPrice.free, machine_detection: 15_000 }
      })
    })
  )
const answered = () => Sample.carrier(placed(), { type: "answered", resume: null }, 1_002_000)

const events = (scene: Sample.Scene) =>
  scene.effects.flatMap(({ events: each }) =>
    each.flatMap((event) =>
      event.type === "call.amd_complete" ? [`${event.data.result}${event.data.beepDetected ? " with beep" : ""}`] : []
    )
  )
const lastRow = (scene: Sample.Scene) => scene.effects.flatMap(({ rows }) => rows).at(-1)?.row

const detected = (scene: Sample.Scene, verdict: Verdict, hasBeep = false, at = 1_005_000) =>
  Sample.media(scene, { type: "machine_detected", id: Sample.lastWork(answered()), verdict, hasBeep, at }, at)
const beeped = (scene: Sample.Scene, at = 1_009_000) =>
  Sample.media(scene, { type: "machine_beeped", id: Sample.lastWork(answered()), at }, at)

describe("Machine detection of a call", () => {
  it("begins with the answer, and not before, nor on a call that was not placed with it", () => {
    expect(placed().state.work).toEqual([])
    expect(answered().state.work).toMatchObject([{ type: "machine_detection", verdict: null }])
    expect(Sample.lastMedia(answered())).toMatchObject({ type: "detect_machine" })
    const plain = Sample.carrier(Sample.start(Sample.place()), { type: "answered", resume: null }, 1_002_000)
    expect(plain.state.work).toEqual([])
  })

  it.each([
    ["human_residence", "human"],
    ["human_business", "human"],
    ["machine", "machine"],
    ["fax", "machine"],
    ["silence", "unknown"],
    ["not_sure", "unknown"]
  ] as const)("tells %s as %s", (verdict, result) => {
    const scene = detected(answered(), verdict)
    expect(events(scene)).toEqual([result])
    expect(Sample.events(scene).at(-1)?.data).toMatchObject({ detail: verdict })
    expect(lastRow(scene)).toMatchObject({ verdict, detectedAt: 1_005_000, beepDetectedAt: null })
  })

  it("tells a beep once more, as a machine's, whatever was told before", () => {
    const scene = beeped(beeped(detected(answered(), "human_residence")), 1_010_000)
    expect(events(scene)).toEqual(["human", "machine with beep"])
    expect(Sample.events(scene).at(-1)?.data).toMatchObject({ result: "machine", detail: "machine" })
    expect(lastRow(scene)).toMatchObject({
      verdict: "machine",
      detectedAt: 1_005_000,
      beepDetectedAt: 1_009_000
    })
  })

  it("tells a beep that decides in one event", () => {
    expect(events(detected(answered(), "machine", true))).toEqual(["machine with beep"])
  })

  it("tells nothing twice, and nothing behind its end", () => {
    const known = detected(detected(answered(), "machine"), "human_business")
    const ended = Sample.media(
      known,
      { type: "ended", id: Sample.lastWork(answered()), status: "completed", reason: null },
      1_036_000
    )
    expect(ended.state.work).toEqual([])
    expect(events(beeped(detected(ended, "fax")))).toEqual(["machine"])
  })

  it("is unknown when the call ends first, or its media fail, before call.ended", () => {
    const over = Sample.carrier(answered(), { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, 1_003_000)
    expect(events(over)).toEqual(["unknown"])
    const types = over.effects.flatMap(({ events: each }) => each.map(({ type }) => type))
    expect(types.indexOf("call.amd_complete")).toBeLessThan(types.indexOf("call.ended"))
    const failed = Sample.media(
      answered(),
      { type: "ended", id: Sample.lastWork(answered()), status: "failed", reason: "slow" },
      1_003_000
    )
    expect(events(failed)).toEqual(["unknown"])
  })

  it("is unknown when its leg went on under a carrier that does not know of it; known, it stays", () => {
    const found = Sample.send(answered(), Sample.recovered(answered(), "elsewhere", 1_003_000), 1_003_000)
    expect(events(found)).toEqual(["unknown"])
    const known = detected(answered(), "machine")
    expect(events(Sample.send(known, Sample.recovered(known, "elsewhere", 1_006_000), 1_006_000))).toEqual(["machine"])
  })

  it("costs one check, once it was answered", () => {
    const end = (scene: Sample.Scene) =>
      Sample.carrier(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, 1_200_000)
    const charged = (scene: Sample.Scene) =>
      Meter.charges(end(scene).state.meters).filter(({ type }) => type === "amd_charge")
    const kept = Sample.start(
      Sample.place({
        terms: Sample.terms({
          plan: { ...CallSetup.nothing, machineDetection: "premium" },
          prices: { ...WorkPrice.free, machine_detection: 15_000 }
        })
      })
    )
    expect(charged(kept)).toEqual([])
    expect(charged(answered())).toEqual([{ type: "amd_charge", cents: 2 }])
  })

  it("is shown as pending, then as it is known, and as unknown of a call that ended unanswered", () => {
    const { id } = placed().state
    const shown = (scene: Sample.Scene, row: Parameters<typeof MachineDetectionView.of>[1] = null) =>
      MachineDetectionView.of(scene.state, row)
    expect(shown(Sample.start(Sample.place()))).toBe(null)
    expect(shown(answered())).toMatchObject({
      id: Id.derive(id, "amd"),
      status: "pending",
      result: null,
      detail: null,
      beep_detected: false
    })
    const row = {
      id: Id.derive(id, "amd"),
      tenantId: Sample.tenantId,
      callId: id,
      legId: Id.derive("sample", "leg"),
      verdict: "fax" as const,
      detectedAt: 1_005_000,
      beepDetectedAt: null
    }
    expect(shown(answered(), row)).toMatchObject({
      status: "complete",
      result: "machine",
      detail: "fax",
      detected_at: "1970-01-01T00:16:45.000Z"
    })
    const unanswered = Sample.carrier(
      placed(),
      { type: "ended", cause: "final_response", sipStatus: 486, by: "far" },
      1_003_000
    )
    expect(shown(unanswered)).toMatchObject({ status: "complete", result: "unknown", detail: "not_sure" })
  })
})
