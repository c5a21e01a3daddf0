import * as CommitParts from "./CommitParts.ts"
import type { Handed, Offer, WebhookEndpointRef } from "./ClaimedDeliveries.ts"
import type { Commit, EntityWrite, EventRow } from "./Journal.ts"
import type { Target } from "../list/ListTable.ts"
import * as UsageEntries from "../usage/UsageEntries.ts"

/**
 * The statement for a batch that writes these tables. A table that a batch does not write costs nothing: at a few
 * hundred events a second a batch writes two or three, and starting a plan with every table takes longer than writing
 * them. There are as many statements as combinations in use; each is prepared once for a connection.
 */
const textFor = (written: ReadonlyArray<Written>): string => {
  const writes = (table: keyof typeof CommitParts.parts) => written.some(({ name }) => name === table)
  return `
WITH ${[CommitParts.owner, ...written.map(({ part }, index) => part(`$${index + 5}`))].join(",")}
SELECT (SELECT jsonb_agg(partition) FROM missing) AS missing,
  (SELECT jsonb_object_agg(id, partition) FROM home WHERE EXISTS (SELECT 1 FROM missing)) AS homes,
  ${writes("money") ? "(SELECT jsonb_object_agg(cause, balance_after_cents) FROM entries)" : "NULL::jsonb"} AS balances,
  ${
    writes("events")
      ? `(SELECT jsonb_agg(jsonb_build_object('endpoint', destination, 'tenantId', tenant_id, 'partition', partition))
    FROM waiting)`
      : "NULL::jsonb"
  } AS endpoints,
  ${
    writes("events")
      ? `(SELECT jsonb_agg(jsonb_build_object('id', delivery_id, 'tenantId', tenant_id, 'partition', partition,
      'endpoint', destination, 'eventId', id, 'targetUrl', target_url, 'sealedSecret', sealed_secret, 'isFailing', is_failing)
      ORDER BY entity_id, sequence) FROM addressed WHERE is_claimed)`
      : "NULL::jsonb"
  } AS handed
`
}

const texts = new Map<string, string>()

export interface Answer {
  /**
   * The partitions that the statement needs and this process does not hold; null: there are none, and everything is
   * written.
   */
  readonly missing: ReadonlyArray<number> | null
  /** The home partitions of the tenants, when a partition is missing. */
  readonly homes: Readonly<Record<string, number>> | null
  /** The balances after each cause. */
  readonly balances: Readonly<Record<string, number>> | null
  /** The endpoints for which the dispatcher may wake. */
  readonly endpoints: ReadonlyArray<WebhookEndpointRef> | null
  /** Deliveries that were made as already claimed; lane and body are those of their events. */
  readonly handed: ReadonlyArray<Omit<Handed, "lane" | "body">> | null
}

interface Statement {
  readonly text: string
  readonly parameters: ReadonlyArray<string>
}

/** Makes a string that Postgres can hold: no NUL (jsonb and text refuse it), no lone surrogate (jsonb refuses it). */
const storable = (value: string): string => value.toWellFormed().replaceAll("\u0000", "\ufffd")

const replaceUnstorable = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? storable(value) : value

const suspicious = /\\u(?:0000|d[89a-f])/i

/**
 * JSON text that Postgres accepts, whatever a tenant sent, because one bad string must not fail the rest of its batch.
 */
export const encode = (rows: ReadonlyArray<unknown>): string => {
  const text = JSON.stringify(rows)
  return suspicious.test(text) ? JSON.stringify(rows, replaceUnstorable) : text
}

/**
 * The one statement that writes a batch of commits (src/runtime/README.md#one-writer, src/webhook/README.md#fan-out).
 * No two commits of a batch may write the same entity.
 *
 * Parameters: the partitions that this process holds (`$1`) and their epochs (`$2`), the tenants of the rows (`$3`), a
 * partition for rows of no tenant (`$4`), then one JSON array as text for each table that the batch writes. The
 * statement locks the epochs of the tenants' partitions `FOR KEY SHARE`; where another process holds one of them, it
 * writes nothing. It sums money in order within the batch, so that each ledger row knows its `balance_after_cents`, and
 * locks balances in the order of their tenants. Deliveries are a join with the active subscriptions of the event's
 * tenant, where these are few; an event that matches none goes to the tenant's failover URL. Where they are many, the
 * event gets a row of `webhook_fan_out`. The deliveries that `offer` names are made as already claimed. A receipt never
 * replaces one that is still valid.
 *
 * The statement returns one row (`Answer`).
 */
export const make = (held: ReadonlyMap<number, number>, batch: ReadonlyArray<Commit>, offer: Offer): Statement => {
  const written = writtenBy(batch, offer)
  const shape = written.map(({ name }) => name).join()
  const text = texts.get(shape) ?? textFor(written)
  texts.set(shape, text)
  const tenants = batch.map(tenantsOf)
  const [anyHeld] = held.keys()
  if (anyHeld === undefined) throw new Error("a statement without a partition that it may write")
  return {
    text,
    parameters: [
      `{${[...held.keys()].join()}}`,
      `{${[...held.values()].join()}}`,
      `{${[...new Set(tenants.flat())].join()}}`,
      tenants.some((of) => of.length === 0) ? `{${anyHeld}}` : "{}",
      ...written.map(({ rows }) => encode(rows))
    ]
  }
}

/** The tenants of a commit's rows. Those of list rows are missing because each has its entity in the same commit. */
export const tenantsOf = ({ audit, entities, events, money, usage }: Commit): ReadonlyArray<string> =>
  [...entities, ...events, ...money, ...audit, ...(usage === null ? [] : [usage])].flatMap(({ tenantId }) =>
    tenantId === null ? [] : [tenantId]
  )

interface Written {
  readonly name: string
  readonly part: CommitParts.Part
  readonly rows: ReadonlyArray<unknown>
}

const writtenBy = (batch: ReadonlyArray<Commit>, offer: Offer): ReadonlyArray<Written> => {
  const { parts } = CommitParts
  const events = batch.flatMap(({ events }) => events)
  const own: ReadonlyArray<Written> = [
    { name: "entities", part: parts.entities, rows: batch.flatMap(({ entities }) => entities.map(entityRow)) },
    { name: "elements", part: parts.elements, rows: batch.flatMap(({ entities }) => entities.flatMap(elementRows)) },
    // A batch with events always names the closed endpoints, even when there are none.
    ...(events.length === 0 ? [] : [{ name: "closed", part: parts.closed, rows: offer.closed }]),
    { name: "events", part: parts.events, rows: events.map((row) => ({ ...row, offered: offer.events.has(row.id) })) },
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
    { name: "usage", part: parts.usage, rows: batch.flatMap(UsageEntries.of) },
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
    ...own.filter(({ name, rows }) => rows.length > 0 || name === "closed"),
    ...[...lists.values()]
      .toSorted((one, other) => (one.table.name < other.table.name ? -1 : 1))
      .map(({ rows, table }) => ({ name: `list ${table.name}`, part: CommitParts.list(table), rows }))
  ]
}

/** The deliveries that were made as already claimed, each with the lane and the body of its event. */
export const handed = (rows: NonNullable<Answer["handed"]>, events: ReadonlyArray<EventRow>): ReadonlyArray<Handed> => {
  if (rows.length === 0) return []
  const byId = new Map(events.map((event) => [event.id, event]))
  return rows.flatMap((row) => {
    const event = byId.get(row.eventId)
    return event === undefined ? [] : [{ ...row, lane: event.lane, body: event.body }]
  })
}

const entityRow = (entity: EntityWrite): unknown => ({
  id: entity.id,
  kind: entity.kind,
  tenant_id: entity.tenantId,
  seq: entity.seq,
  settled: entity.settled,
  state_version: entity.stateVersion,
  state: rowStateOf(entity),
  at: entity.input.at,
  seed: entity.input.seed,
  machine_version: entity.input.machineVersion,
  input: entity.input.body
})

/** The state without the elements that are rows of their own. */
const rowStateOf = ({ elements, state }: EntityWrite): unknown =>
  elements === undefined || elements.gone === null
    ? state
    : { ...(state as Readonly<Record<string, unknown>>), [elements.field]: [] }

const elementRows = ({ elements, id, state }: EntityWrite): ReadonlyArray<unknown> => {
  if (elements === undefined) return []
  const { changed, field, gone } = elements
  if (gone === null) return [{ entity_id: id, id: null, field, value: null }]
  const all = (state as Readonly<Record<string, ReadonlyArray<{ readonly id: string }>>>)[field] ?? []
  return [
    ...gone.map((element) => ({ entity_id: id, id: element, field, value: null })),
    ...all.flatMap((value, ordinal) =>
      changed.has(value.id) ? [{ entity_id: id, id: value.id, field, value, ordinal }] : []
    )
  ]
}
