import type { CallId, ConferenceId, RecordingId, TenantId } from "../../domain/Id.ts"
import * as ListTable from "../../runtime/store/list/ListTable.ts"

/** Statuses of a recording, guide/recordings.md#states. */
export const statuses = ["available", "archived", "expired", "failed"] as const
export type Status = (typeof statuses)[number]

/** A recording whose outcome is known. */
export interface Recorded {
  readonly id: RecordingId
  readonly tenantId: TenantId
  readonly callId: CallId
  readonly conferenceId: ConferenceId | null
  readonly channels: "single" | "dual"
  readonly format: "mp3" | "wav"
  readonly status: Status
  readonly durationSeconds: number
  readonly sizeBytes: number
  readonly createdAt: number
}

const { bigint, int, of, text, time, uuid } = ListTable

/** The table of recordings. A row is written with the commit that holds the recording's outcome. */
export const RecordingList = of<Recorded>()("recording", {
  id: text((recorded) => recorded.id),
  tenantId: uuid((recorded) => recorded.tenantId),
  callId: text((recorded) => recorded.callId),
  conferenceId: text((recorded) => recorded.conferenceId),
  channels: text((recorded) => recorded.channels),
  format: text((recorded) => recorded.format),
  status: text((recorded) => recorded.status),
  durationSeconds: int((recorded) => recorded.durationSeconds),
  sizeBytes: bigint((recorded) => recorded.sizeBytes),
  createdAt: time((recorded) => recorded.createdAt)
})

export type RecordingRow = ListTable.RowOf<typeof RecordingList>
