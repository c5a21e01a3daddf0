import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { TableLine } from "./BackupFormat.ts"

/** Reads the tables from the database's own catalog, so that a new table or column is in the next backup by itself. */

type Run = (text: string, parameters?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<object>, SqlError>

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The migrations themselves write this table. */
const migrations = "effect_sql_migrations"

const ofOurs = `
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname <> '${migrations}'`

/** Gives the current time and every table, each after those that it refers to. */
export const read = Effect.fnUntraced(function* (run: Run) {
  const found = (yield* run(`
    SELECT c.relname AS "table", (SELECT json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod))
      ORDER BY a.attnum) FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')::text AS columns,
      ARRAY(SELECT DISTINCT t.relname::text FROM pg_constraint k JOIN pg_class t ON t.oid = k.confrelid
        WHERE k.contype = 'f' AND k.conrelid = c.oid AND k.confrelid <> c.oid) AS "refersTo"
    ${ofOurs} ORDER BY c.relname`)) as ReadonlyArray<{
    readonly table: string
    readonly columns: string
    readonly refersTo: ReadonlyArray<string>
  }>
  const tables: Array<TableLine> = []
  const waiting = [...found]
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ refersTo }) =>
      refersTo.every((name) => tables.some(({ table }) => table === name))
    )
    const [table] = waiting.splice(Math.max(0, next), 1)
    if (table !== undefined)
      tables.push({ table: table.table, columns: JSON.parse(table.columns) as TableLine["columns"] })
  }
  const [now] = (yield* run(
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at`
  )) as ReadonlyArray<{ readonly at: string }>
  return { tables, takenAt: now?.at ?? "" }
})

/**
 * The values of the sequences. They are not part of a snapshot and only grow, so when read after the rows they are
 * ahead.
 */
export const sequences = (run: Run) =>
  Effect.map(
    run(`
      SELECT sequencename AS name, coalesce(last_value, start_value)::text AS value, last_value IS NOT NULL AS called
      FROM pg_sequences WHERE schemaname = current_schema() ORDER BY sequencename`),
    (rows) => rows as ReadonlyArray<{ readonly name: string; readonly value: string; readonly called: boolean }>
  )

export const isEmpty = (run: Run) =>
  Effect.map(
    run(`
      SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') LIMIT 1`),
    (rows) => rows.length === 0
  )
