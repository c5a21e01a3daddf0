import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { ApiError } from "../../../domain/ApiError.ts"
import type { TenantId } from "../../../domain/Id.ts"
import * as ListClient from "./ListClient.ts"

/** Rows `offset` … `offset + limit - 1` of a list, or of its part that follows `after`. */
export interface Window {
  readonly limit: number
  readonly offset: number
  /** The end of an earlier page (`Page.next`). */
  readonly after?: string
}

/** Some of the rows, and the number of all. */
export interface Page<Item> {
  /** The number of rows among the first `looked` ones. */
  readonly count: number
  readonly results: ReadonlyArray<Item>
  /** The end of this page, if more rows may follow it; null: there are none. */
  readonly next: string | null
}

/**
 * The rows that one answer looks at, so that a list of a million costs no more than one of ten thousand. The count
 * stops here, and a filter that matches few of them continues with the next page.
 */
export const looked = 10_000

/** A total order, and a place in it as text, from which the next page continues without counting the rows before it. */
export interface Order {
  readonly by: Fragment
  /** SQL for the place of a row. */
  readonly place: Fragment
  /** A condition for the rows after a place; null: the text is no place. */
  readonly behind: (place: string) => Fragment | null
}

/** Orders by a growing number, the newest first. */
export const byOrdinal = (sql: SqlClient.SqlClient): Order => ({
  by: sql`ordinal DESC`,
  place: sql`ordinal::text`,
  behind: (place) => (/^[0-9]{1,18}$/.test(place) ? sql`ordinal < ${place}::text::bigint` : null)
})

const moment = /^([0-9]{1,16})~([0-9a-z_-]{1,64})$/

/** Orders by the microsecond in `time`, the newest first, then by `id`, downwards or upwards. */
export const byTime = (
  sql: SqlClient.SqlClient,
  time: "created_at" | "initiated_at",
  then: "upwards" | "downwards" = "upwards"
): Order => {
  const at = sql.literal(time)
  return {
    by: then === "upwards" ? sql`${at} DESC, id` : sql`${at} DESC, id DESC`,
    place: sql`(extract(epoch FROM ${at}) * 1000000)::bigint || '~' || id`,
    behind: (place) => {
      const [, micros, id] = moment.exec(place) ?? []
      if (micros === undefined || id === undefined) return null
      const then_ = sql`(timestamptz 'epoch' + ${micros}::text::float8 * interval '1 microsecond')`
      return then === "upwards"
        ? sql`(${at} < ${then_} OR (${at} = ${then_} AND id::text > ${id}))`
        : sql`(${at}, id) < (${then_}, ${id})`
    }
  }
}

/** The source of a list. `columns` include an `id` that is never null. */
interface List<Row, Item> {
  readonly tenantId: TenantId
  readonly columns: Fragment
  /** The name of the table, or SQL for its rows. */
  readonly from: string | Fragment
  /**
   * The condition that an index serves in the list's order. It should hold for every row from the start of the range.
   * Absent: the row is the tenant's.
   */
  readonly where?: Fragment
  /** The conditions that are checked row by row. */
  readonly filters?: ReadonlyArray<Fragment>
  /** Holds for a row after which no filter can match any more. */
  readonly past?: Fragment
  /** Absent: by the time of creation. */
  readonly order?: Order
  readonly window: Window
  readonly item: (row: Row) => Item
}

/** The refusal of a cursor that the list did not give. */
export const noPlace = ApiError.of("invalid_request", "cursor: it is none that this list gave", "cursor")

/** The columns of the totals, which precede each row of the page or are alone. */
interface Totals {
  readonly count: number
  readonly next: string | null
  readonly id: string | null
}

/**
 * Reads lists (`ListClient.reading`): one page and the number of rows, both of one moment (one statement, hence one
 * snapshot). For an `after` that is no place it dies with an `ApiError`, 400. Failed statements die.
 */
export const reader = Effect.gen(function* () {
  const { sql, within } = yield* ListClient.reading

  return <Row extends { readonly id: string }, Item>(list: List<Row, Item>): Effect.Effect<Page<Item>> => {
    const { columns, filters = [], item, order = byTime(sql, "created_at"), past, tenantId, window } = list
    const from = typeof list.from === "string" ? sql.literal(list.from) : list.from
    const where = list.where ?? sql`tenant_id = ${tenantId}`
    const behind = window.after === undefined ? sql`true` : order.behind(window.after)
    if (behind === null) return Effect.die(noPlace)
    const last = window.offset + window.limit
    const ordered = sql`FROM ${from} WHERE ${where} AND ${behind} ORDER BY ${order.by}`
    const { counted, found } =
      filters.length === 0 && past === undefined
        ? everything({ sql, ordered, from, where, order, window, last })
        : filtered({ sql, ordered, from, where, order, window, last }, filters, past)
    // The totals are a separate row, so that the count is also there for an empty page.
    const page = sql<Row & Totals>`
      WITH ${found}
      SELECT total.*, rows.* FROM (
        SELECT (${counted}) AS count,
          (SELECT ${order.place} FROM ${from} WHERE id = (SELECT listed FROM ending)) AS next
      ) AS total LEFT JOIN (
        SELECT found.position, row.* FROM found CROSS JOIN LATERAL
          (SELECT ${columns} FROM ${from} WHERE id = found.listed) AS row
        WHERE found.position > ${window.offset} AND found.position <= ${last}
      ) AS rows ON true ORDER BY rows.position`
    const answered = Effect.map(page, (rows) => ({
      count: rows[0]?.count ?? 0,
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- the row of the totals has no id on an empty page
      results: rows.filter((row) => row.id !== null).map((row) => item(row)),
      next: rows[0]?.next ?? null
    }))
    return Effect.orDie(within(tenantId, answered))
  }
})

interface Search {
  readonly sql: SqlClient.SqlClient
  /** The list's rows after the place from which it continues. */
  readonly ordered: Fragment
  readonly from: Fragment
  readonly where: Fragment
  readonly order: Order
  readonly window: Window
  readonly last: number
}

/**
 * SQL that finds a page: `found` has the positions, some of them on the page, and `ending` the end of the page;
 * `counted` is the number of rows.
 */
interface Found {
  readonly found: Fragment
  readonly counted: Fragment
}

/** The rows that are counted. They begin with the first one of the list, wherever the page begins. */
const firstRows = ({ from, order, sql, where }: Search, columns: Fragment): Fragment =>
  sql`(SELECT ${columns} FROM ${from} WHERE ${where} ORDER BY ${order.by} LIMIT ${looked}) AS first`

/**
 * Finds the page of a list without filters, where a position is an offset: only the page is read, and the index to
 * count.
 */
const everything = (search: Search): Found => {
  const { last, ordered, sql, window } = search
  const upTo = Math.min(last, looked)
  const skipped = Math.min(window.offset, looked - 1)
  return {
    found: sql`found AS MATERIALIZED (
        SELECT id AS listed, ${skipped}::int + row_number() OVER () AS position
        FROM (SELECT id ${ordered} LIMIT ${upTo + 1 - skipped} OFFSET ${skipped}) AS row
        LIMIT ${looked - skipped}
      ), ending AS (
        SELECT listed FROM found
        WHERE position = ${upTo} AND (position = ${looked} OR EXISTS (SELECT FROM found WHERE position > ${upTo}))
      )`,
    counted: sql`SELECT count(*) FROM ${firstRows(search, sql``)}`
  }
}

const filtered = (search: Search, filters: ReadonlyArray<Fragment>, past: Fragment = search.sql`false`): Found => {
  const { last, ordered, sql, window } = search
  const wanted = filters.length === 0 ? sql`true` : sql.and(filters)
  return {
    // Rows are numbered in the order in which the index gives them; an ORDER BY in the window would sort them.
    found: sql`looked AS MATERIALIZED (
        SELECT id AS listed, wanted, past, row_number() OVER () AS at,
          count(*) FILTER (WHERE wanted) OVER (ROWS UNBOUNDED PRECEDING) AS position
        FROM (SELECT id, ${wanted} AS wanted, ${past} AS past ${ordered} LIMIT ${looked}) AS row
      ), found AS (
        SELECT listed, position FROM looked WHERE wanted
      ), ending AS (
        SELECT coalesce(
          (SELECT listed FROM found WHERE position = ${last} AND EXISTS (SELECT FROM found WHERE position > ${last})),
          (SELECT listed FROM looked WHERE at = ${looked} AND NOT past)) AS listed
      )`,
    counted:
      window.after === undefined
        ? sql`SELECT count(*) FILTER (WHERE wanted) FROM looked`
        : sql`SELECT count(*) FILTER (WHERE wanted) FROM ${firstRows(search, sql`${wanted} AS wanted`)}`
  }
}
