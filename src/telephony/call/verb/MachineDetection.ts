import { Schema } from "effect"
import * as DetectionMessages from "../../../ports/media/DetectionMessages.ts"
import * as MachineDetectionList from "./MachineDetectionList.ts"
import * as ActionKind from "./ActionKind.ts"

/**
 * Detects what answered an outbound call, guide/detection.md. It begins by itself with the answer if the call was
 * placed so, reports `call.amd_complete` once the result is known, and again for a beep within half a minute after
 * that.
 */
const fields = {
  /** Null: not known yet. */
  verdict: Schema.NullOr(DetectionMessages.Verdict),
  detectedAt: Schema.NullOr(Schema.Number),
  beepDetectedAt: Schema.NullOr(Schema.Number)
}

type Item = ActionKind.Activity & Schema.Struct<typeof fields>["Type"]

const told =
  (item: Item, verdict: DetectionMessages.Verdict, beepDetectedAt: number | null): ActionKind.Ending =>
  ({ callId, customerReference, legId }, at, { tenantId }) => {
    const result = MachineDetectionList.resultOf(verdict)
    const row = {
      id: MachineDetectionList.idOf(callId),
      tenantId,
      callId,
      legId,
      verdict,
      detectedAt: item.detectedAt ?? at,
      beepDetectedAt
    }
    return {
      events: [
        {
          type: "call.amd_complete",
          data: { callId, legId, customerReference, result, detail: verdict, beepDetected: beepDetectedAt !== null }
        }
      ],
      rows: MachineDetectionList.table.writes(null, row)
    }
  }

/** Stores a new or better result and continues to listen for a beep. */
const known = <I extends Item>(
  item: I,
  verdict: DetectionMessages.Verdict,
  detectedAt: number,
  beepDetectedAt: number | null
): ActionKind.Turn<I> => {
  const next = { ...item, verdict, detectedAt, beepDetectedAt }
  return { item: next, tells: told(next, verdict, beepDetectedAt) }
}

/** The report when detection ends before there is a result. */
const unknown = (item: Item): ActionKind.Ending => (item.verdict === null ? told(item, "not_sure", null) : null)

export const family = ActionKind.make("machine_detection", fields, {
  limit: 1,
  full: "machine detection is already running on this call",
  meter: { kind: "machine_detection", per: "item" },
  told: unknown,
  heard: (item, event, at) => {
    if (event.type === "machine_detected" && item.verdict === null)
      return known(item, event.verdict, at, event.hasBeep ? at : null)
    if (event.type === "machine_beeped" && item.beepDetectedAt === null)
      return known(item, "machine", item.detectedAt ?? at, at)
    return { item, tells: null }
  },
  starts: ({ machineDetection }, occasion, { derive }) => {
    if (machineDetection !== "premium" || occasion !== "answered") return null
    const id = derive("machine_detection")
    return {
      id,
      media: { type: "detect_machine", id },
      verdict: null,
      detectedAt: null,
      beepDetectedAt: null
    }
  },
  legEnded: { ending: unknown },
  // The sound so far is lost with its process, and a detection that begins in the middle would be wrong.
  restarted: { ending: unknown, quiet: null }
})
