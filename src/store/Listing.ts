import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { SqlError } from "effect/sql/SqlError"

/** Rows `offset` … `offset + limit - 1` of a list. */
export interface Window {
  readonly limit: number
  readonly offset: number
}

/** A page: some of the rows, and how many there are in all. */
export interface Page<Item> {
  readonly count: number
  readonly results: ReadonlyArray<Item>
}

/** The source of a list. `columns` name an `id` that is never null; `order` is total, so that pages do not overlap. */
export interface List<Row, Item> {
  readonly columns: Fragment
  readonly from: Fragment
  readonly where: Fragment
  readonly order: Fragment
  readonly window: Window
  readonly item: (row: Row) => Item
}

/** One page of a list and how many rows it has in all, both of one moment: one statement, hence one snapshot. */
export const read = <Row extends { readonly id: string }, Item>(
  sql: SqlClient.SqlClient,
  list: List<Row, Item>
): Effect.Effect<Page<Item>, SqlError> =>
  Effect.map(
    // The count has a row of its own, so that it is there when the page is empty.
    sql<Row & { readonly id: string | null; readonly count: number }>`
      WITH page AS (
        SELECT ${list.columns} FROM ${list.from} WHERE ${list.where}
        ORDER BY ${list.order} LIMIT ${list.window.limit} OFFSET ${list.window.offset}
      ), numbered AS (SELECT *, row_number() OVER () AS position FROM page)
      SELECT total.count, numbered.*
      FROM (SELECT count(*)::int AS count FROM ${list.from} WHERE ${list.where}) AS total
      LEFT JOIN numbered ON true ORDER BY numbered.position`,
    (rows) => ({
      count: rows[0]?.count ?? 0,
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- the row of the count has no id on an empty page
      results: rows.filter((row) => row.id !== null).map((row) => list.item(row))
    })
  )
