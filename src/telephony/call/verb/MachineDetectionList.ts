import * as Id from "../../../domain/Id.ts"
import type { Verdict } from "../../../ports/media/DetectionMessages.ts"
import * as ListTable from "../../../runtime/store/list/ListTable.ts"

/** The result of machine detection; one row for each call that got one. */
interface Detected {
  readonly id: Id.MachineDetectionId
  readonly tenantId: Id.TenantId
  readonly callId: Id.CallId
  readonly legId: Id.LegId
  readonly verdict: Verdict
  readonly detectedAt: number
  readonly beepDetectedAt: number | null
}

const { of, text, time, uuid } = ListTable

/** Written with the event that reports the result, and again when a beep changes it. */
export const table = of<Detected>()("machine_detection", {
  id: text((row) => row.id),
  tenantId: uuid((row) => row.tenantId),
  callId: text((row) => row.callId),
  legId: text((row) => row.legId),
  verdict: text((row) => row.verdict),
  detectedAt: time((row) => row.detectedAt),
  beepDetectedAt: time((row) => row.beepDetectedAt)
})

export type DetectedRow = ListTable.RowOf<typeof table>

/** A call has at most one result, under an id that is known before detection begins. */
export const idOf = (callId: Id.CallId): Id.MachineDetectionId => Id.derive(callId, "amd")

const results = {
  human_residence: "human",
  human_business: "human",
  machine: "machine",
  fax: "machine",
  silence: "unknown",
  not_sure: "unknown"
} as const satisfies Readonly<Record<Verdict, string>>

/** The result that its events report. */
export const resultOf = (verdict: Verdict): (typeof results)[Verdict] => results[verdict]
