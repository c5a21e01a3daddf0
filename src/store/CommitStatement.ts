import * as CommitParts from "./CommitParts.ts"
import type { Commit, EntityWrite } from "./Journal.ts"
import type { Target } from "./ListTable.ts"

/**
 * The statement for a batch that writes these tables. What a batch does not write costs it nothing: at a few hundred
 * events a second a batch holds two or three, and starting a plan with every table takes longer than writing them.
 * There are as many statements as there are combinations in use, each prepared once for a connection.
 */
const textFor = (written: ReadonlyArray<Written>): string => {
  const writes = (table: keyof typeof CommitParts.parts) => written.some(({ name }) => name === table)
  return `
WITH ${[CommitParts.owner, ...written.map(({ part }, index) => part(`$${index + 2}`))].join(",")}
SELECT (SELECT count(*)::int FROM owner) AS owner,
  ${writes("money") ? "(SELECT jsonb_object_agg(cause, balance_after_cents) FROM entries)" : "NULL::jsonb"} AS balances,
  ${
    writes("events")
      ? "(SELECT jsonb_agg(DISTINCT jsonb_build_object('destination', destination, 'tenantId', tenant_id)) FROM addressed)"
      : "NULL::jsonb"
  } AS destinations
`
}

const texts = new Map<string, string>()

export interface Statement {
  readonly text: string
  readonly parameters: ReadonlyArray<string>
}

/** A string that Postgres can hold: no NUL (jsonb and text refuse it), no lone surrogate (jsonb refuses it). */
const storable = (value: string): string => value.toWellFormed().replaceAll("\u0000", "\ufffd")

const replaceUnstorable = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? storable(value) : value

const suspicious = /\\u(?:0000|d[89a-f])/i

/** JSON text that no byte of a tenant's can make Postgres refuse: one bad string must not fail a batch of others. */
export const encode = (rows: ReadonlyArray<unknown>): string => {
  const text = JSON.stringify(rows)
  return suspicious.test(text) ? JSON.stringify(rows, replaceUnstorable) : text
}

/**
 * The one statement that writes a batch of commits (src/README.md#one-writer, src/README.md#fan-out). No two commits
 * of a batch may write the same entity.
 *
 * Parameters: `$1` the epoch this process holds, then one JSON array as text for each table that the batch writes. The
 * epoch row is locked `FOR SHARE`; under an older epoch nothing is written and `owner` is 0. Money is summed in order
 * within the batch, so that each ledger row knows its `balance_after_cents`. Deliveries are a join with the active
 * subscriptions of the event's tenant; an event that matches none goes to the tenant's failover URL (decision C57).
 * A receipt never takes the place of one that is still good.
 *
 * Answers one row: `owner` (0 or 1), `balances` (cause → balance after), `destinations` (what the dispatcher may wake).
 */
export const make = (epoch: number, batch: ReadonlyArray<Commit>): Statement => {
  const written = writtenBy(batch)
  const shape = written.map(({ name }) => name).join()
  const text = texts.get(shape) ?? textFor(written)
  texts.set(shape, text)
  return { text, parameters: [String(epoch), ...written.map(({ rows }) => encode(rows))] }
}

/** A table that a batch writes, and its rows. */
interface Written {
  readonly name: string
  readonly part: CommitParts.Part
  readonly rows: ReadonlyArray<unknown>
}

const writtenBy = (batch: ReadonlyArray<Commit>): ReadonlyArray<Written> => {
  const { parts } = CommitParts
  const own: ReadonlyArray<Written> = [
    { name: "entities", part: parts.entities, rows: batch.flatMap(({ entities }) => entities.map(entityRow)) },
    { name: "events", part: parts.events, rows: batch.flatMap(({ events }) => events) },
    {
      name: "money",
      part: parts.money,
      rows: batch.flatMap(({ money }) => money).map((row, ordinal) => ({ ...row, ordinal }))
    },
    {
      name: "receipts",
      part: parts.receipts,
      rows: batch.flatMap(({ receipt }) => (receipt === null ? [] : [receipt]))
    },
    { name: "audit", part: parts.audit, rows: batch.flatMap(({ audit }) => audit) }
  ]
  const lists = new Map<string, { readonly table: Target; readonly rows: Array<unknown> }>()
  for (const { lists: written } of batch)
    for (const { row, table } of written) {
      const list = lists.get(table.name) ?? { table, rows: [] }
      lists.set(table.name, list)
      list.rows.push(row)
    }
  return [
    ...own.filter(({ rows }) => rows.length > 0),
    ...[...lists.values()]
      .toSorted((one, other) => (one.table.name < other.table.name ? -1 : 1))
      .map(({ rows, table }) => ({ name: `list ${table.name}`, part: CommitParts.list(table), rows }))
  ]
}

const entityRow = (entity: EntityWrite): unknown => ({
  id: entity.id,
  kind: entity.kind,
  tenant_id: entity.tenantId,
  seq: entity.seq,
  settled: entity.settled,
  state_version: entity.stateVersion,
  state: entity.state,
  at: entity.input.at,
  seed: entity.input.seed,
  machine_version: entity.input.machineVersion,
  input: entity.input.body
})
