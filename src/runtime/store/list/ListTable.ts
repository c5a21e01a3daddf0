import * as Wire from "../../../domain/schema/Wire.ts"

/**
 * The table of a list: the columns by which the list filters and which it shows, written in the commit that changes
 * them.
 *
 * The feature that owns a list names each column once, with its SQL type and its value in the state. The commit's
 * statement, the columns of a read and the type of a row follow from that. `fromNumber` is `from_number` in SQL; the
 * key is `id`.
 */
export interface ListTable<State, Row> {
  readonly rowOf: (state: State) => Row
  /** The writes of a commit from `before` to `after`; none when the list shows the same. */
  readonly writes: (before: State | null, after: State) => ReadonlyArray<ListWrite>
  /** The columns of a SELECT that returns rows. */
  readonly columns: string
}

export type RowOf<Table> = Table extends ListTable<never, infer Row> ? Row : never

export interface ListWrite {
  readonly table: Target
  readonly row: Readonly<Record<string, Value>>
}

/** A table as the commit's statement writes it. Two targets with the same name are the same table. */
export interface Target {
  readonly name: string
  readonly columns: ReadonlyArray<TargetColumn>
}

interface TargetColumn {
  /** The name in SQL. */
  readonly name: string
  /** The name in the row. */
  readonly field: string
  readonly type: Type
}

type Value = string | number | null

interface Column<State, V extends Value> {
  readonly type: Type
  readonly of: (state: State) => V
}

/** The conversions of a value: its type in JSON, and from there into the column. */
interface Type {
  readonly sent: string
  readonly written: (sent: string) => string
}

const same = (text: string) => text
const textType: Type = { sent: "text", written: same }
const uuidType: Type = { sent: "uuid", written: same }
const intType: Type = { sent: "int", written: same }
const bigintType: Type = { sent: "bigint", written: same }
const timeType: Type = { sent: "float8", written: (sent) => `to_timestamp(${sent} / 1000.0)` }

export const text = <State, V extends string | null>(of: (state: State) => V): Column<State, V> => ({
  type: textType,
  of
})
export const uuid = <State, V extends string | null>(of: (state: State) => V): Column<State, V> => ({
  type: uuidType,
  of
})
export const int = <State, V extends number | null>(of: (state: State) => V): Column<State, V> => ({
  type: intType,
  of
})
/** A whole number up to 2^53. */
export const bigint = <State, V extends number | null>(of: (state: State) => V): Column<State, V> => ({
  type: bigintType,
  of
})
/** Epoch milliseconds in the state, `timestamptz` in the table. */
export const time = <State, V extends number | null>(of: (state: State) => V): Column<State, V> => ({
  type: timeType,
  of
})

type Columns<State> = { readonly id: Column<State, string> } & Readonly<Record<string, Column<State, Value>>>

type Shown<C> = { readonly [Field in keyof C]: C[Field] extends Column<never, infer V> ? V : never }

/** Makes the list table `name`; its columns must exist in the database. */
export const of =
  <State>() =>
  <const C extends Columns<State>>(name: string, columns: C): ListTable<State, Shown<C>> => {
    const fields: ReadonlyArray<readonly [string, Column<State, Value>]> = Object.entries(columns)
    const table: Target = {
      name,
      columns: fields.map(([field, { type }]) => ({ name: Wire.snake(field), field, type }))
    }
    const rowOf = (state: State) => Object.fromEntries(fields.map(([field, column]) => [field, column.of(state)]))
    return {
      rowOf: (state) => rowOf(state) as Shown<C>,
      writes: (before, after) =>
        before !== null && fields.every(([, column]) => column.of(before) === column.of(after))
          ? []
          : [{ table, row: rowOf(after) }],
      columns: table.columns.map(({ name }) => name).join(", ")
    }
  }
