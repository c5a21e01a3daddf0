import { Effect } from "effect"
import type { CallId, TenantId } from "../../domain/Id.ts"
import * as ListClient from "../../runtime/store/list/ListClient.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Segments, type SegmentRow, Sessions, type SessionRow } from "./TranscriptionList.ts"

/** How many phrases are read at once: all of their words take the thread a few milliseconds. */
const pageSize = 100

/** Rows of `transcription` and `transcript_segment`. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, count, sql } = yield* Sql.make
  const lists = yield* ListClient.reading

  return {
    /** The newest session of a call. A session whose call was settled without its end is shown as failed. */
    newest: (tenantId: TenantId, callId: CallId) =>
      Effect.map(
        all<SessionRow & { readonly isLost: boolean }>`
          SELECT ${sql.literal(Sessions.columns)},
            status = 'active' AND NOT EXISTS (SELECT 1 FROM entity WHERE id = ${callId} AND NOT settled) AS is_lost
          FROM transcription WHERE call_id = ${callId} AND tenant_id = ${tenantId}
          ORDER BY started_at DESC, id DESC LIMIT 1`,
        ([row]): SessionRow | null => (row === undefined ? null : row.isLost ? { ...row, status: "failed" } : row)
      ),
    /** Deletes up to `limit` of a tenant's sessions with their phrases, and returns their number. */
    eraseSome: (tenantId: TenantId, limit: number) =>
      count`
        WITH gone AS (
          DELETE FROM transcription
          WHERE id = ANY(ARRAY(SELECT id FROM transcription WHERE tenant_id = ${tenantId} LIMIT ${limit})) RETURNING id
        ),
        said AS (DELETE FROM transcript_segment WHERE transcription_id = ANY(ARRAY(SELECT id FROM gone)))
        SELECT count(*) AS count FROM gone`,
    /**
     * Applies `use` to a page of a session's phrases after this number, in order. It takes part in the turns of list
     * reads, because the transcript of a long call has many phrases.
     */
    segments: <A>(
      session: SessionRow,
      after: number,
      use: (rows: ReadonlyArray<SegmentRow>, isLast: boolean) => A
    ): Effect.Effect<A> =>
      lists.sql<SegmentRow>`SELECT ${lists.sql.literal(Segments.columns)} FROM transcript_segment
          WHERE transcription_id = ${session.id} AND sequence > ${after} ORDER BY sequence LIMIT ${pageSize}`.pipe(
        Effect.map((rows) => use(rows, rows.length < pageSize)),
        (read) => Effect.orDie(lists.within(session.tenantId, read))
      )
  } as const
})
