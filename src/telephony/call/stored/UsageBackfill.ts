import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { TenantId } from "../../../domain/Id.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import type { Json, MoneyRow } from "../../../runtime/store/journal/Journal.ts"
import * as TrunkLeg from "../../../runtime/store/usage/TrunkLeg.ts"
import * as UsageEntries from "../../../runtime/store/usage/UsageEntries.ts"
import { noDimensions } from "../../../runtime/store/usage/UsageRow.ts"
import { CallList, type CallRow } from "./CallList.ts"
import * as Carried from "./Carried.ts"
import * as CallUsage from "./CallUsage.ts"
import * as Upgrade from "./Upgrade.ts"

/**
 * The rows of one transaction, and the pause after it: the job runs beside the traffic, for as long as it takes.
 * Decoding a hundred states blocks the event loop, which all share, for some 10 ms.
 */
const portion = 100
const pauseMs = 100

interface Round {
  readonly position: string
  readonly until: string
  readonly others: ReadonlyArray<string>
}

/** The rows that a portion writes, and where it ends; null: no rows are left. */
interface Portion {
  readonly write: Effect.Effect<unknown, SqlError>
  readonly position: string | null
}

/**
 * Counts the usage from before usage was kept: calls, charges and trunk traffic, a portion at a time. Each portion and
 * its position are one transaction, so that nothing counts twice. When all is counted, the job has nothing left to do.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const jobs = yield* Jobs

  const counted = (waiting: ReadonlyArray<ReturnType<typeof UsageEntries.of>[number]>) => sql`
    INSERT INTO usage_tail (tenant_id, entries)
    SELECT "tenantId", entries FROM jsonb_to_recordset(${JSON.stringify(waiting)}::text::jsonb) AS r("tenantId" uuid, entries jsonb)`

  const calls = Effect.fnUntraced(function* ({ others, position, until }: Round) {
    const rows = yield* sql<
      CallRow & {
        readonly stateVersion: number | null
        readonly state: Json
        readonly counts: boolean
      }
    >`
      SELECT listed.*, e.state_version AS "stateVersion", e.state,
        listed.ended_at IS NOT NULL AND listed.initiated <= ${until}::text::timestamptz AND listed.id <> ALL (${others}::text[]) AS counts
      FROM (
        SELECT ${sql.literal(CallList.columns)}, initiated_at AS initiated FROM call
        WHERE id > ${position} ORDER BY id LIMIT ${portion}
      ) AS listed LEFT JOIN entity e ON e.id = listed.id ORDER BY listed.id`
    return {
      write: counted(
        rows
          .filter(({ counts }) => counts)
          .flatMap(({ state, stateVersion, ...row }) => {
            const read = stateVersion === null ? null : Upgrade.state({ state, stateVersion })
            const usage = read !== null && Result.isSuccess(read) ? CallUsage.of(read.success) : CallUsage.ofRow(row)
            return UsageEntries.of({ money: [], usage })
          })
      ),
      position: rows.length < portion ? null : (rows.at(-1)?.id ?? null)
    } satisfies Portion
  })

  const charges = Effect.fnUntraced(function* ({ position, until }: Round) {
    const rows = yield* sql<
      Pick<MoneyRow, "id" | "type" | "amountCents" | "at"> & {
        readonly owner: TenantId
        readonly counts: boolean
        readonly direction: "inbound" | "outbound" | null
        readonly from: string
        readonly to: string
        readonly customerReference: string | null
      }
    >`
      SELECT l.id, l.tenant_id::text AS owner, l.type, l.amount_cents::float8 AS "amountCents",
        (extract(epoch FROM l.created_at) * 1000)::float8 AS at, l.ordinal <= ${until}::text::bigint AS counts,
        c.direction, c.from_number AS "from", c.to_number AS "to", c.customer_reference AS "customerReference"
      FROM (SELECT * FROM ledger WHERE id > ${position} ORDER BY id LIMIT ${portion}) l
        LEFT JOIN call c ON l.reference_type = 'call' AND c.id = l.reference_id ORDER BY l.id`
    return {
      write: counted(
        rows
          .filter(({ counts }) => counts)
          .flatMap(({ amountCents, at, id, owner: tenantId, type, ...call }) =>
            UsageEntries.of({
              money: [
                {
                  id,
                  tenantId,
                  type,
                  amountCents,
                  at,
                  cause: "",
                  description: "",
                  referenceType: null,
                  referenceId: null
                }
              ],
              usage: {
                tenantId,
                dimensions:
                  call.direction === null ? noDimensions : CallUsage.dimensions({ ...call, direction: call.direction }),
                counted: []
              }
            })
          )
          .filter(({ entries }) => entries.length > 0)
      ),
      position: rows.length < portion ? null : (rows.at(-1)?.id ?? null)
    } satisfies Portion
  })

  /** Traffic of ended calls; a call that ended under this version already has its rows, and keeps them. */
  const trunks = Effect.fnUntraced(function* ({ position }: Round) {
    const rows = yield* sql<CallRow & { readonly stateVersion: number | null; readonly state: Json }>`
      SELECT listed.*, e.state_version AS "stateVersion", e.state
      FROM (SELECT ${sql.literal(CallList.columns)} FROM call WHERE id > ${position} ORDER BY id LIMIT ${portion}) AS listed
        LEFT JOIN entity e ON e.id = listed.id ORDER BY listed.id`
    const carried = rows.flatMap(({ state, stateVersion, ...row }) => {
      const carried = row.endedAt === null ? null : Carried.ofStored({ state, stateVersion }, row)
      const { destination } = CallUsage.dimensions(row)
      return carried === null ? [] : [{ tenant_id: row.tenantId, id: row.id, at: row.endedAt, destination, carried }]
    })
    return {
      write: sql.unsafe(
        TrunkLeg.insert(
          `jsonb_to_recordset($1::jsonb) AS r(tenant_id uuid, id text, at float8, destination text, carried jsonb)`
        ),
        [JSON.stringify(carried)]
      ),
      position: rows.length < portion ? null : (rows.at(-1)?.id ?? null)
    } satisfies Portion
  })

  const step = (name: string, read: (round: Round) => Effect.Effect<Portion, SqlError>) =>
    Effect.gen(function* () {
      const [round] = yield* sql<Round>`
        SELECT position, until, others FROM usage_backfill WHERE name = ${name} FOR UPDATE`
      if (round === undefined) return false
      const { position, write } = yield* read(round)
      yield* write
      yield* position === null
        ? sql`DELETE FROM usage_backfill WHERE name = ${name}`
        : sql`UPDATE usage_backfill SET position = ${position} WHERE name = ${name}`
      return position !== null
    }).pipe(sql.withTransaction)

  const each = (name: string, read: (round: Round) => Effect.Effect<Portion, SqlError>) =>
    Effect.gen(function* () {
      while (yield* step(name, read)) yield* Effect.sleep(pauseMs)
    })

  jobs.declare({
    kind: "usage.backfill",
    everyMs: 3_600_000,
    concurrency: 1,
    timeoutMs: 12 * 3_600_000,
    retry: { attempts: Infinity, firstMs: 10_000, maxMs: 600_000 },
    run: () => Effect.all([each("charges", charges), each("calls", calls), each("trunks", trunks)], { discard: true })
  })
})
