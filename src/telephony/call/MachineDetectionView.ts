import { Schema } from "effect"
import * as CallEvent from "../../domain/event/CallEvent.ts"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import { type CallState, isTerminal, primary } from "./machine/CallState.ts"
import { type DetectedRow, idOf, resultOf } from "./verb/MachineDetectionList.ts"

/** The result of machine detection as the API shows it, guide/detection.md#the-result. */
export const MachineDetection = Wire.struct({
  id: Field.id("amd", "The result."),
  callId: Field.callId(),
  legId: Field.legId(),
  mode: Field.oneOf("What the call was placed with.", ["premium"]),
  status: Field.oneOf("`pending` until it is known, or the call is over.", ["complete", "pending"]),
  result: Field.oneOfOrNull("Who answered; null while it is not known.", ["human", "machine", "unknown"], "machine"),
  detail: Field.oneOfOrNull("The same more finely; null while it is not known.", CallEvent.answeredBy, "machine"),
  beepDetected: Field.flag("A voicemail's beep was heard.", true),
  detectedAt: Field.timeOrNull("When it was known.", "2026-01-01T00:00:05.000Z"),
  beepDetectedAt: Field.timeOrNull("When the beep was over.", "2026-01-01T00:00:09.000Z")
}).pipe(Schema.annotateEncoded({ identifier: "MachineDetection" }))
export type MachineDetection = typeof MachineDetection.Encoded

const encode = Wire.encoder(MachineDetection)

/** Null: the call was placed without machine detection. */
export const of = (state: CallState, row: DetectedRow | null): MachineDetection | null => {
  if (state.plan.machineDetection === "off") return null
  const over = row !== null || isTerminal(state)
  const detail = row?.verdict ?? (over ? "not_sure" : null)
  return encode({
    id: idOf(state.id),
    callId: state.id,
    legId: row?.legId ?? primary(state).id,
    mode: "premium",
    status: over ? "complete" : "pending",
    result: detail === null ? null : resultOf(detail),
    detail,
    beepDetected: row !== null && row.beepDetectedAt !== null,
    detectedAt: row?.detectedAt ?? null,
    beepDetectedAt: row?.beepDetectedAt ?? null
  })
}
