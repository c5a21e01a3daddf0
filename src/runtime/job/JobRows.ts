import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { TenantId } from "../../domain/Id.ts"
import type { Next } from "./JobAttempt.ts"

/** A claimed row. Attempt and epoch together identify the claim, because a later claim counts another attempt. */
export interface Claimed {
  readonly kind: string
  readonly key: string
  readonly tenantId: TenantId | null
  readonly attempt: number
  readonly epoch: number
  readonly lastError: string | null
}

export interface NewRow {
  readonly kind: string
  readonly key: string
  readonly tenantId: TenantId | null
  /** The time until the row is due; absent: it is due now. */
  readonly inMs?: number
  /** A row that exists already and is not claimed becomes due at this time instead. */
  readonly moves?: boolean
}

/** The counts of one kind, for the operator. */
export interface Standing {
  readonly kind: string
  readonly due: number
  readonly failed: number
  readonly oldestDueMs: number
}

export interface FailedRow {
  readonly kind: string
  readonly key: string
  readonly tenantId: TenantId | null
  readonly attempts: number
  readonly error: string | null
  readonly failedAt: number
}

/** The nil UUID (RFC 9562 section 5.9), for rows of the service itself. */
const nobody = "00000000-0000-0000-0000-000000000000"

/** A line with fewer due rows of a kind than this is ranked whole, without a search for further tenants. */
const shortLine = 500

/** Counting stops here: the number then means "many", and costs no more. */
const countLimit = 100_000

/**
 * Reads and writes rows of `job` in one partition. All processes use the database's clock (`now`); tests give another.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly partition: number
  readonly now?: () => Fragment
}) {
  const sql = yield* SqlClient.SqlClient
  const { now = () => sql`now()`, partition } = options
  const after = (ms: number) => sql`${now()} + ${ms}::float8 * interval '1 millisecond'`
  const claimed = sql`kind, key, nullif(tenant_id, ${nobody}::uuid) AS tenant_id, attempt, leased_by AS epoch,
    last_error`

  return {
    /**
     * Puts a row in the transaction of its cause, into the home partition of its tenant. A row that exists already
     * stays as it is, unless this one moves it.
     */
    put: (row: NewRow) => sql`
      INSERT INTO job (kind, key, partition, tenant_id, due_at, created_at)
      VALUES (${row.kind}, ${row.key}, coalesce((SELECT partition FROM tenant WHERE id = ${row.tenantId}), ${partition}),
        ${row.tenantId ?? nobody}, ${after(row.inMs ?? 0)}, ${now()})
      ON CONFLICT (kind, key) DO ${
        row.moves === true
          ? sql`UPDATE SET due_at = excluded.due_at WHERE job.leased_by IS NULL AND job.failed_at IS NULL`
          : sql`NOTHING`
      }`,

    /** Puts the row of a recurring job. A new row is due now, and an old one at most one period from now. */
    putRecurring: (kind: string, everyMs: number) => sql`
      INSERT INTO job (kind, key, partition, tenant_id, due_at, created_at)
      VALUES (${kind}, ${kind}, ${partition}, ${nobody}, ${now()}, ${now()})
      ON CONFLICT (kind, key) DO UPDATE SET due_at = least(job.due_at, ${after(everyMs)})
      WHERE job.leased_by IS NULL`,

    /** Makes the rows due that an earlier process had claimed; each of those attempts counts. */
    takeBack: (epoch: number) => sql`
      UPDATE job SET due_at = ${now()}, leased_by = NULL
      WHERE partition = ${partition} AND leased_by < ${epoch} AND due_at IS NOT NULL`,

    /** The time until the nearest row of each kind is due, in milliseconds; kinds without rows are left out. */
    nearest: (kinds: ReadonlyArray<string>) => sql<{ readonly kind: string; readonly inMs: number }>`
      SELECT k.kind, extract(epoch FROM nearest.due_at - ${now()}) * 1000 AS in_ms
      FROM unnest(${kinds}::text[]) AS k(kind) CROSS JOIN LATERAL (
        SELECT due_at FROM job WHERE partition = ${partition} AND kind = k.kind AND due_at IS NOT NULL
        ORDER BY due_at LIMIT 1) nearest`,

    /**
     * Claims up to `limit` due rows of a kind, in turns. Tenants with fewer running rows come first (`running`: from
     * tenant to their number), then those after `last`, the tenant that had the turn before. Within a tenant the row
     * that has been due longest comes first.
     *
     * A short line (`early`) is ranked whole. In a longer one the statement finds the tenants by jumping through the
     * index from each to the next, so that a tenant with a hundred thousand due rows costs no more than one with a few.
     */
    claim: (of: {
      readonly kind: string
      readonly limit: number
      readonly leaseMs: number
      readonly epoch: number
      readonly running: Readonly<Record<string, number>>
      readonly last: string | null
    }) => sql<Claimed>`
      WITH RECURSIVE early AS MATERIALIZED (
        SELECT key, tenant_id, due_at FROM job
        WHERE partition = ${partition} AND kind = ${of.kind} AND due_at <= ${now()} ORDER BY due_at LIMIT ${shortLine}
      ),
      line AS MATERIALIZED (SELECT count(*) = ${shortLine} AS long FROM early),
      tenant AS (
        (SELECT tenant_id FROM job
          WHERE (SELECT long FROM line) AND partition = ${partition} AND kind = ${of.kind} AND due_at IS NOT NULL
          ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT j.tenant_id FROM job j WHERE j.partition = ${partition} AND j.kind = ${of.kind}
          AND j.due_at IS NOT NULL AND j.tenant_id > tenant.tenant_id ORDER BY j.tenant_id LIMIT 1)
        FROM tenant WHERE tenant.tenant_id IS NOT NULL
      ),
      due AS (
        SELECT key, tenant_id, due_at FROM early WHERE NOT (SELECT long FROM line)
        UNION ALL
        SELECT first.key, tenant.tenant_id, first.due_at FROM tenant CROSS JOIN LATERAL (
          SELECT key, due_at FROM job WHERE partition = ${partition} AND kind = ${of.kind}
            AND tenant_id = tenant.tenant_id AND due_at <= ${now()} ORDER BY due_at LIMIT ${of.limit}) first
      ),
      ranked AS (
        SELECT key, tenant_id, row_number() OVER (PARTITION BY tenant_id ORDER BY due_at, key)
          + coalesce((${JSON.stringify(of.running)}::text::jsonb ->> tenant_id::text)::int, 0) AS turn
        FROM due
      ),
      chosen AS MATERIALIZED (
        SELECT key FROM ranked
        ORDER BY turn, tenant_id <= coalesce(${of.last}::text::uuid, ${nobody}::uuid), tenant_id LIMIT ${of.limit}
      ),
      locked AS MATERIALIZED (
        SELECT row.key FROM chosen CROSS JOIN LATERAL (
          SELECT j.key FROM job j WHERE j.kind = ${of.kind} AND j.key = chosen.key AND j.due_at <= ${now()}
          FOR UPDATE SKIP LOCKED) row
      )
      UPDATE job SET due_at = ${after(of.leaseMs)}, leased_by = ${of.epoch}, attempt = attempt + 1
      WHERE kind = ${of.kind} AND key IN (SELECT key FROM locked)
      RETURNING ${claimed}`,

    claimOne: (of: { readonly kind: string; readonly key: string; readonly leaseMs: number; readonly epoch: number }) =>
      sql<Claimed>`
        UPDATE job SET due_at = ${after(of.leaseMs)}, leased_by = ${of.epoch}, attempt = attempt + 1
        WHERE kind = ${of.kind} AND partition = ${partition} AND due_at <= ${now()}
          AND key = (SELECT key FROM job WHERE kind = ${of.kind} AND key = ${of.key} FOR UPDATE SKIP LOCKED)
        RETURNING ${claimed}`,

    /**
     * Writes the outcome of a claim. It writes nothing when the claim is lost, because its lease ran out or the
     * partition is lost.
     */
    settle: (row: Claimed, next: Next) => {
      const ours = sql`kind = ${row.kind} AND key = ${row.key} AND attempt = ${row.attempt} AND leased_by = ${row.epoch}
        AND leased_by = (SELECT epoch FROM journal_owner WHERE partition = ${partition})`
      switch (next.type) {
        case "gone":
          return sql`DELETE FROM job WHERE ${ours}`
        case "due":
          return sql`
            UPDATE job SET due_at = ${after(next.inMs)}, leased_by = NULL, last_error = ${next.error},
              attempt = CASE WHEN ${next.error}::text IS NULL THEN 0 ELSE attempt END
            WHERE ${ours}`
        case "failed":
          return sql`
            UPDATE job SET due_at = NULL, leased_by = NULL, last_error = ${next.error}, failed_at = ${now()}
            WHERE ${ours}`
      }
    },

    /** Undoes a claim, including its attempt, because the process stops. */
    giveBack: (row: Claimed) => sql`
      UPDATE job SET due_at = ${now()}, leased_by = NULL, attempt = attempt - 1
      WHERE kind = ${row.kind} AND key = ${row.key} AND attempt = ${row.attempt} AND leased_by = ${row.epoch}`,

    /** Counts the rows that are due and not claimed, and those that have failed, both up to `countLimit`. */
    standing: sql<Standing>`
      SELECT kind, count(*) FILTER (WHERE failed_at IS NULL) AS due,
        count(*) FILTER (WHERE failed_at IS NOT NULL) AS failed,
        coalesce(max(extract(epoch FROM now() - due_at) * 1000), 0) AS oldest_due_ms
      FROM (
        (SELECT kind, due_at, failed_at FROM job
          WHERE partition = ${partition} AND due_at <= now() AND leased_by IS NULL LIMIT ${countLimit})
        UNION ALL
        (SELECT kind, due_at, failed_at FROM job
          WHERE partition = ${partition} AND failed_at IS NOT NULL LIMIT ${countLimit})
      ) counted GROUP BY kind`,

    /** The failed rows, the newest failure first. */
    failed: (limit: number) => sql<FailedRow>`
      SELECT kind, key, nullif(tenant_id, ${nobody}::uuid) AS tenant_id, attempt AS attempts, last_error AS error,
        failed_at
      FROM job WHERE partition = ${partition} AND failed_at IS NOT NULL ORDER BY failed_at DESC, kind, key LIMIT ${limit}`,

    /**
     * Deletes the failed rows of a kind whose keys have this beginning, in the transaction of the work that replaces
     * them. True: a row with such a key is still to be done.
     */
    supersede: (kind: string, start: string) =>
      Effect.map(
        sql`
          WITH gone AS (DELETE FROM job WHERE kind = ${kind} AND starts_with(key, ${start}) AND failed_at IS NOT NULL)
          SELECT FROM job WHERE kind = ${kind} AND starts_with(key, ${start}) AND failed_at IS NULL LIMIT 1`,
        (rows) => rows.length === 1
      ),

    /** Makes a failed row due again. Its earlier attempts do not count. */
    revive: (kind: string, key: string) =>
      Effect.map(
        sql`
          UPDATE job SET due_at = ${now()}, failed_at = NULL, attempt = 0
          WHERE kind = ${kind} AND key = ${key} AND partition = ${partition} AND failed_at IS NOT NULL RETURNING 1`,
        (rows) => rows.length === 1
      )
  } as const
})

export type JobRows = Effect.Success<ReturnType<typeof make>>
