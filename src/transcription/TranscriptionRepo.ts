import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CallId, TenantId } from "../domain/Id.ts"
import { Segments, type SegmentRow, Sessions, type SessionRow } from "./TranscriptionList.ts"

/** Rows of `transcription` and `transcript_segment`. Failed statements die. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    /** The newest session of a call. One whose call was settled without its end is told as failed. */
    newest: (tenantId: TenantId, callId: CallId) =>
      Effect.map(
        Effect.orDie(
          sql<SessionRow & { readonly isLost: boolean }>`
            SELECT ${sql.literal(Sessions.columns)},
              status = 'active' AND NOT EXISTS (SELECT 1 FROM entity WHERE id = ${callId} AND NOT settled) AS "isLost"
            FROM transcription WHERE call_id = ${callId} AND tenant_id = ${tenantId}
            ORDER BY started_at DESC, id DESC LIMIT 1`
        ),
        ([row]): SessionRow | null => (row === undefined ? null : row.isLost ? { ...row, status: "failed" } : row)
      ),
    segments: (session: SessionRow) =>
      Effect.orDie(
        sql<SegmentRow>`SELECT ${sql.literal(Segments.columns)} FROM transcript_segment
          WHERE transcription_id = ${session.id} ORDER BY sequence`
      )
  } as const
})
