import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type SealedColumn, sealedColumns } from "./SealedColumns.ts"

/** Sealed texts of one column, with the keys of their rows. */
interface Page extends SealedColumn {
  readonly rows: ReadonlyArray<{ readonly id: string; readonly sealed: string }>
}

const pageRows = 500

/**
 * Visits every sealed text of the database, a page at a time, by primary key. A column that the schema lacks is
 * skipped.
 */
export const forEachPage = Effect.fnUntraced(function* <E, R>(use: (page: Page) => Effect.Effect<void, E, R>) {
  const sql = yield* SqlClient.SqlClient
  for (const of of sealedColumns) {
    const { column, key, keyType, table } = of
    const [found] = yield* sql`
      SELECT FROM pg_attribute WHERE attrelid = to_regclass(${table}) AND attname = ${column} AND NOT attisdropped`
    if (found === undefined) continue
    for (let last: string | null = null; ;) {
      const rows: Page["rows"] = yield* sql.unsafe<Page["rows"][number]>(
        `SELECT ${key}::text AS id, ${column} AS sealed FROM ${table}
         WHERE ${column} IS NOT NULL AND ($1::${keyType} IS NULL OR ${key} > $1::${keyType})
         ORDER BY ${key} LIMIT ${pageRows}`,
        [last]
      )
      if (rows.length > 0) yield* use({ ...of, rows })
      if (rows.length < pageRows) break
      last = rows.at(-1)?.id ?? null
    }
  }
})

/** Replaces texts that have not changed since they were read. */
export const replace = (
  { column, key, keyType, table }: SealedColumn,
  texts: ReadonlyArray<{ readonly id: string; readonly old: string; readonly sealed: string }>
) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(
      `UPDATE ${table} t SET ${column} = n.sealed
       FROM jsonb_to_recordset($1::jsonb) AS n(id text, old text, sealed text)
       WHERE t.${key} = n.id::${keyType} AND t.${column} = n.old`,
      [JSON.stringify(texts)]
    )
  )
