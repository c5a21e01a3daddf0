import { Effect, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type * as Id from "../../../domain/Id.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { filePlace } from "../../../telephony/recording/Recording.ts"

/** The number of rows in one read, which is all that is in memory at once. */
const pageRows = 200

/** The version of the lines. A new field does not raise it. */
const format = 1

/**
 * The exported columns of each kind of row, as a query for the tenant `$1`. Columns are named one by one, so that a
 * hash or a secret that a table gets later is not exported by accident.
 */
const sections: ReadonlyArray<readonly [type: string, query: string]> = [
  [
    "tenant",
    `SELECT id, name, slug, status, suspension_reason, legal_name, country, company_size, industry, use_case,
      webhook_failover_url, created_at, updated_at FROM tenant WHERE id = $1`
  ],
  ["balance", "SELECT balance_cents, credit_limit_cents, updated_at FROM balance WHERE tenant_id = $1"],
  [
    "member",
    `SELECT id, email, first_name, last_name, role, status, email_verified_at, last_login_at, created_at
      FROM member WHERE tenant_id = $1 ORDER BY created_at, id`
  ],
  [
    "api_key",
    `SELECT id, name, prefix, scopes, last_used_at, expires_at, revoked_at, created_at
      FROM api_key WHERE tenant_id = $1 AND NOT is_login ORDER BY created_at, id`
  ],
  [
    "connection",
    `SELECT id, name, is_default, status, adapter, host, port, username, created_at
      FROM route WHERE tenant_id = $1 ORDER BY created_at, id`
  ],
  [
    "webhook_subscription",
    `SELECT id, target_url, event_types, description, connection_id, is_active, created_at
      FROM webhook_subscription WHERE tenant_id = $1 ORDER BY created_at, id`
  ],
  [
    "phone_number",
    `SELECT id, phone_number, country_code, number_type, status, name, route_id AS connection_id, features,
      customer_reference, tags, order_id, source, monthly_cost_cents, next_renewal_at, activated_at, released_at,
      created_at FROM phone_number WHERE tenant_id = $1 ORDER BY created_at, id`
  ],
  [
    "call",
    `SELECT id, direction, status, from_number AS "from", to_number AS "to", route_id AS connection_id, initiated_at,
      answered_at, ended_at, duration_seconds, end_reason, end_initiator, customer_reference, cost_cents
      FROM call WHERE tenant_id = $1 ORDER BY initiated_at, id`
  ],
  [
    "recording",
    `SELECT id, call_id, channels, format, status, duration_seconds, size_bytes, created_at
      FROM recording WHERE tenant_id = $1 ORDER BY created_at, id`
  ],
  [
    "transcription",
    `SELECT id, call_id, leg_id, status, engine, language, tracks, started_at, ended_at, duration_seconds
      FROM transcription WHERE tenant_id = $1 ORDER BY started_at, id`
  ],
  [
    "transcript_segment",
    `SELECT s.id, s.transcription_id, s.sequence, s.track, s.transcript, s.started_at, s.ended_at
      FROM transcription t CROSS JOIN LATERAL (
        SELECT * FROM transcript_segment WHERE transcription_id = t.id ORDER BY sequence
      ) AS s WHERE t.tenant_id = $1 ORDER BY t.started_at, t.id, s.sequence`
  ],
  [
    "ledger_entry",
    `SELECT id, type, amount_cents, balance_after_cents, cause, description, reference_type, reference_id, created_at
      FROM ledger WHERE tenant_id = $1 ORDER BY ordinal`
  ],
  [
    "invoice",
    `SELECT id, number, status, period_start, period_end, total_cents,
      CASE WHEN status = 'void' THEN 0 ELSE amount_due_cents END AS amount_due_cents, issued_at, paid_at
      FROM invoice WHERE tenant_id = $1 ORDER BY ordinal`
  ],
  [
    "rate",
    `SELECT d.effective_at, r.direction, r.prefix, r.micro_usd_per_minute, r.first_secs, r.step_secs,
      r.connection_fee_micro_usd, r.minimum_micro_usd FROM rate_deck d JOIN rate r ON r.deck = d.id
      WHERE d.tenant_id = $1 ORDER BY d.effective_at, d.id, r.direction, r.prefix`
  ],
  ["rate_discount", "SELECT hundredths AS hundredths_of_percent FROM rate_discount WHERE tenant_id = $1"],
  [
    "audit_line",
    `SELECT id, occurred_at, actor_type, actor_id, actor_name, action, resource_type, resource_id, changes, ip
      FROM audit WHERE tenant_id = $1 ORDER BY ordinal`
  ]
]

interface Recorded {
  readonly id: Id.RecordingId
  readonly format: "mp3" | "wav"
  readonly status: string
}

/**
 * All data of a tenant as lines of JSON, guide/tenants.md#export, as it was at one moment. It is read beside the
 * traffic, one page at a time, as fast as the client reads. A client that reads nothing for 15 s loses the export, as
 * with a backup.
 */
export const lines = (
  tenantId: Id.TenantId,
  takenAt: number,
  link: (of: Recorded) => Effect.Effect<string>
): Stream.Stream<string, SqlError, SqlClient.SqlClient> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const connection = yield* sql.reserve
      const run = (text: string, parameters: ReadonlyArray<unknown> = []) =>
        connection.executeUnprepared(text, parameters, undefined)
      yield* Effect.acquireRelease(run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), () =>
        Effect.ignore(run("ROLLBACK"))
      )
      yield* run("SET LOCAL TimeZone = 'UTC'")

      const line = (value: unknown) => `${JSON.stringify(value)}\n`
      const withFile = (text: string) => {
        const row = JSON.parse(text) as Recorded
        const file = filePlace(row)
        return row.status === "available"
          ? Effect.map(link(row), (download_url) => JSON.stringify({ ...row, file, download_url }))
          : Effect.succeed(JSON.stringify({ ...row, file, download_url: null }))
      }
      let rows = 0
      let isOpen = false

      /**
       * Step -1 writes the header; each later step writes a page of one kind of row; the last one writes the end line.
       */
      const step = Effect.fnUntraced(function* (at: number) {
        if (at < 0)
          return [
            [line({ type: "export", data: { format, tenant_id: tenantId, taken_at: Timestamp.format(takenAt) } })],
            Option.some(0)
          ] as const
        const section = sections[at]
        if (section === undefined) return [[line({ end: true, rows })], Option.none<number>()] as const
        const [type, query] = section
        if (!isOpen)
          yield* run(
            `DECLARE export NO SCROLL CURSOR FOR SELECT row_to_json(told)::text AS line
             FROM (${query.replaceAll("$1", "$1::uuid")}) AS told`,
            [tenantId]
          )
        isOpen = true
        const found = (yield* run(`FETCH ${pageRows} FROM export`)) as ReadonlyArray<{ readonly line: string }>
        rows += found.length
        const data = yield* Effect.forEach(found, (row) =>
          type === "recording" ? withFile(row.line) : Effect.succeed(row.line)
        )
        const text = data.map((json) => `{"type":"${type}","data":${json}}\n`)
        if (found.length === pageRows) return [text, Option.some(at)] as const
        yield* run("CLOSE export")
        isOpen = false
        return [text, Option.some(at + 1)] as const
      })
      return Stream.paginate(-1, step)
    })
  )
