import { expect, it } from "@effect/vitest"
import * as CallRecord from "../../../../src/telephony/call/stored/CallRecord.ts"
import * as CallVerbs from "../../../../src/telephony/call/verb/CallVerbs.ts"
import type { MediaEvent } from "../../../../src/ports/media/MediaMessage.ts"
import * as Sample from "../CallSample.ts"

const told = (scene: Sample.Scene, event: MediaEvent) => Sample.carrier(scene, { type: "media", event }, 4_000)

it("a recording's outcome has a line in the audit log, by the system, guide/tenants.md#audit", () => {
  const answered = Sample.carrier(Sample.start(Sample.place(), 0), { type: "answered", resume: null }, 1_000)
  const scene = Sample.send(
    answered,
    { type: "action", action: CallVerbs.decodeAction("start_recording", {}), reservedMinutes: [] },
    2_000
  )
  const [item] = scene.state.work
  if (item === undefined) throw new Error("nothing is recorded")
  const { id } = item
  const outcomes: ReadonlyArray<readonly [MediaEvent, string]> = [
    [
      { type: "recording_stored", id, durationMs: 2_600, sizeBytes: 41_644, downloadUrl: "https://here/x" },
      "available"
    ],
    [{ type: "ended", id, status: "failed", reason: "storage_error" }, "failed"]
  ]
  for (const [event, status] of outcomes) {
    const after = told(scene, event)
    const { state } = after
    const [effects, step] = [after.effects.at(-1), after.log.at(-1)]
    if (effects === undefined || step === undefined) throw new Error("nothing came of it")
    const { audit, lists } = CallRecord.commitOf({ before: scene.state, state, effects, ...step }, null, null)
    const row = lists.find(({ table }) => table.name === "recording")?.row
    expect(row?.["status"]).toBe(status)
    expect(audit).toMatchObject([
      {
        tenantId: state.tenantId,
        actor: { type: "system" },
        action: "recording.created",
        resourceType: "recording",
        resourceId: row?.["id"],
        changes: [{ field: "status", from: null, to: status }]
      }
    ])
  }
})

it("a transcription has a line for its begin and one for its end", () => {
  const answered = Sample.carrier(Sample.start(Sample.place(), 0), { type: "answered", resume: null }, 1_000)
  const started = Sample.send(
    answered,
    { type: "action", action: CallVerbs.decodeAction("transcription_start", {}), reservedMinutes: [] },
    2_000
  )
  const [item] = started.state.work
  if (item === undefined) throw new Error("nothing is transcribed")
  const over = told(started, { type: "ended", id: item.id, status: "failed", reason: "engine_error" })
  const linesOf = (before: Sample.Scene, after: Sample.Scene) => {
    const [effects, step] = [after.effects.at(-1), after.log.at(-1)]
    if (effects === undefined || step === undefined) throw new Error("nothing came of it")
    const { audit } = CallRecord.commitOf({ before: before.state, state: after.state, effects, ...step }, null, null)
    return audit.map(({ action, changes, resourceType }) => [resourceType, action, changes])
  }
  expect(linesOf(answered, started)).toEqual([
    ["transcription", "transcription.created", [{ field: "status", from: null, to: "active" }]]
  ])
  expect(linesOf(started, over)).toEqual([
    ["transcription", "transcription.status_changed", [{ field: "status", from: "active", to: "failed" }]]
  ])
})
