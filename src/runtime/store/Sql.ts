import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { TenantId } from "../../domain/Id.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import { timestamptz } from "./Timestamptz.ts"

/** A tagged template that runs its statement. */
type Tag<A> = (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) => Effect.Effect<A>

type Values = Readonly<Record<string, unknown>>

/**
 * Tagged templates that differ in what they return of a statement's result. An error of the database is a defect, which
 * `PassingDefect.ts` recognizes where the database is away, so repositories have no errors of their own.
 */
export const of = (sql: SqlClient.SqlClient) => {
  const all = <Row extends object>(strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) =>
    Effect.orDie(sql<Row>(strings, ...values))
  const value = <A>(strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) =>
    Effect.map(all<Record<string, A>>(strings, ...values), ([row]) => (row === undefined ? null : only(row)))
  const count: Tag<number> = (strings, ...values) => Effect.map(value<number>(strings, ...values), (n) => n ?? 0)
  const done: Tag<void> = (strings, ...values) => Effect.asVoid(all(strings, ...values))
  /** Makes transactions that lock this tenant wait for each other, until the end of the caller's transaction. */
  const lockTenant = (id: TenantId) => done`SELECT FROM tenant WHERE id = ${id} FOR NO KEY UPDATE`
  const some: Tag<boolean> = (strings, ...values) => Effect.map(all(strings, ...values), (rows) => rows.length > 0)
  const written = ([field, given]: readonly [string, unknown]) =>
    [
      sql.literal(Wire.snake(field)),
      sql`${field.endsWith("At") && typeof given === "number" ? timestamptz(given) : given}`
    ] as const
  const listed = (fragments: ReadonlyArray<Fragment>): Fragment => sql.csv(fragments)

  return {
    sql,
    all,
    /** Runs the work as one transaction. It keeps the errors of the work itself. */
    transaction: <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, SqlError>, R> =>
      Effect.catch(sql.withTransaction(work), (error) =>
        error instanceof SqlError ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError>)
      ),

    /** The first row; null without one. */
    first: <Row extends object>(strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) =>
      Effect.map(all<Row>(strings, ...values), ([row]): Row | null => row ?? null),
    /** The only column of the first row; null without a row. */
    value,
    /** The only column of all rows. */
    column: <A>(strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) =>
      Effect.map(all<Record<string, A>>(strings, ...values), (rows): ReadonlyArray<A> => rows.map(only)),
    /** The number in the only column of the first row; 0 without a row. */
    count,
    /** Whether there is a row: one that was found, or that a `RETURNING` returns because it was changed. */
    some,
    done,

    lockTenant,

    /**
     * The number of a tenant's rows in a table, up to `limit`. No other transaction counts rows of the tenant until
     * this one ends, so this one may insert.
     */
    countForInsert: (table: string, tenantId: TenantId, limit: number) =>
      Effect.andThen(
        lockTenant(tenantId),
        count`SELECT count(*) FROM (SELECT FROM ${sql.literal(table)} WHERE tenant_id = ${tenantId} LIMIT ${limit}) AS own`
      ),

    /**
     * `(created_at, …) VALUES ($1, …)` for the fields of a row. A value may be SQL. As everywhere, a number whose name
     * ends in `At` is a moment in epoch milliseconds.
     */
    values: (row: Values): Fragment => {
      const pairs = Object.entries(row).map(written)
      return sql`(${listed(pairs.map(([column]) => column))}) VALUES (${listed(pairs.map(([, given]) => given))})`
    },
    /** `created_at = $1, …` for the fields of a row, like `values`. */
    set: (row: Values): Fragment =>
      listed(
        Object.entries(row).map((pair) => {
          const [column, given] = written(pair)
          return sql`${column} = ${given}`
        })
      ),
    /** `created_at = $1` for each field that is given. */
    equal: (filters: Values): ReadonlyArray<Fragment> =>
      Object.entries(filters)
        .filter(([, given]) => given !== undefined)
        .map(([field, given]) => sql`${sql.literal(Wire.snake(field))} = ${given}`),
    /**
     * The moments that lie strictly between these, for as many of them as are given. All that is shown with the
     * millisecond of `afterMs` is left out.
     */
    between: (field: string, afterMs?: number, beforeMs?: number): ReadonlyArray<Fragment> => {
      const at = sql.literal(Wire.snake(field))
      return [
        ...(afterMs === undefined ? [] : [sql`${at} >= ${timestamptz(afterMs + 1)}`]),
        ...(beforeMs === undefined ? [] : [sql`${at} < ${timestamptz(beforeMs)}`])
      ]
    },
    json: (given: unknown): Fragment => sql`${JSON.stringify(given)}::text::jsonb`
  } as const
}

const only = <A>(row: Record<string, A>): A => Object.values(row)[0] as A

export const make = Effect.map(SqlClient.SqlClient, of)
