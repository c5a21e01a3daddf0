/**
 * A table whose rows are kept for a limited time, and how the older ones are found. The tables are pruned in the order
 * of `table`; a new table joins by a row there.
 *
 * The statement `prune` reads rows from the oldest on, in the order of an index, and deletes those that are too old and
 * that no other row needs. Parameters: `$1` the moment before which rows are too old, in epoch milliseconds; `$2` the
 * position after which it reads (`from` at first); `$3` how many rows it reads. It returns one row (`Pruned`).
 *
 * It names the rows to delete by an array, because a plan with a join that was made while the table was small would
 * still read the whole table. Each condition is in the DELETE too, so that a row that was changed meanwhile is judged
 * again.
 */
export interface Retained {
  readonly name: string
  /** The period of `Periods` for which rows are kept. */
  readonly period: keyof Periods
  readonly from: string
  readonly prune: string
  /**
   * SQL that gives the time of the oldest row that pruning may ever delete, in epoch milliseconds, in one row or none.
   * Null: the age is not measured.
   */
  readonly oldest: string | null
  /** The index that makes a batch cheap; null: an index that also serves other reads does. */
  readonly index: { readonly name: string; readonly on: string } | null
}

/** How long rows are kept, in milliseconds. */
export interface Periods {
  /** Receipts of idempotent requests, which answer for 24 hours, and trials of cards, which count for 24 hours. */
  readonly receipt: number
  /** Finished deliveries, events, journals of settled calls, jobs that failed for good, letters, login keys. */
  readonly event: number
  /** Calls, conferences, recordings, transcripts and audit lines. */
  readonly call: number
  /** The key of a call, counted from when the call is settled and its last delivery is finished. */
  readonly callKey: number
  readonly processorEvent: number
}

export interface Pruned {
  readonly pruned: number
  /** The position at which the next batch continues; null: there are no more rows. */
  readonly position: string | null
}

const cutoff = `to_timestamp($1::float8 / 1000)`

/** The smallest version 7 UUID with the time `$1` (RFC 9562 section 5.7). */
const cutoffId = `(lpad(to_hex($1::bigint), 12, '0') || repeat('0', 20))::uuid`

const nilId = "00000000-0000-0000-0000-000000000000"

/** Indexes for other reads than pruning. They are built concurrently with the traffic before a round of pruning. */
export const forReads: ReadonlyArray<NonNullable<Retained["index"]>> = [
  { name: "audit_resource", on: "audit (resource_id, ordinal DESC)" },
  { name: "transcription_tenant", on: "transcription (tenant_id, started_at, id)" }
]

/** The final SELECT of a statement, over its parts `looked` (with the position `at`) and `gone`. */
const answer = `
SELECT (SELECT count(*) FROM gone) AS pruned,
  CASE WHEN (SELECT count(*) FROM looked) = $3::int THEN (SELECT at::text FROM looked ORDER BY at DESC LIMIT 1) END AS position`

/**
 * Prunes rows by the age in a column. Rows of the same moment as the last of a batch are looked at in the next round.
 */
const byTime = (of: {
  readonly name: string
  readonly period: keyof Periods
  readonly column: string
  readonly when?: string
  readonly index: Retained["index"]
}): Retained => ({
  name: of.name,
  period: of.period,
  from: "-infinity",
  index: of.index,
  prune: `
WITH looked AS MATERIALIZED (
  SELECT ctid AS place, ${of.column} AS at FROM ${of.name}
  WHERE ${of.column} < ${cutoff} AND ${of.column} > $2::timestamptz ORDER BY ${of.column} LIMIT $3::int
),
gone AS (
  DELETE FROM ${of.name} WHERE ctid = ANY (ARRAY(SELECT place FROM looked)) AND ${of.column} < ${cutoff}
    AND ${of.when ?? "true"} RETURNING 1
)${answer}`,
  oldest: `SELECT min(${of.column}) AS at FROM ${of.name}`
})

/**
 * Prunes rows whose id begins with their time. A row with another kind of id is pruned when it sorts among the old
 * ones.
 */
const byId = (of: {
  readonly name: string
  readonly time: string
  readonly when: string
  /** SQL that gives a row while another row needs the row `looked`. */
  readonly neededBy: string | null
}): Retained => ({
  name: of.name,
  period: "event",
  from: nilId,
  index: null,
  prune: `
WITH looked AS MATERIALIZED (
  SELECT id, id AS at FROM ${of.name} WHERE id < ${cutoffId} AND id > $2::uuid ORDER BY id LIMIT $3::int
),
needed AS MATERIALIZED (
  ${of.neededBy === null ? "SELECT id FROM looked WHERE false" : `SELECT looked.id FROM looked CROSS JOIN LATERAL (${of.neededBy} LIMIT 1) AS need`}
),
gone AS (
  DELETE FROM ${of.name} WHERE id = ANY (ARRAY(SELECT id FROM looked EXCEPT SELECT id FROM needed))
    AND ${of.time} < ${cutoff} AND ${of.when} RETURNING 1
)${answer}`,
  oldest: `SELECT ${of.time} AS at FROM ${of.name} ORDER BY id LIMIT 1`
})

/**
 * Prunes the journal of a call or conference as a whole. The last input is deleted first, so that the rest of a long
 * journal is never mistaken for all of it; the first input marks that the journal exists. A batch looks at a quarter as
 * many calls as rows, because each call has several inputs.
 */
const journal: Retained = {
  name: "journal",
  period: "event",
  from: "-infinity",
  index: { name: "journal_begun", on: "journal (at) WHERE seq = 1" },
  prune: `
WITH looked AS MATERIALIZED (
  SELECT entity_id, at FROM journal WHERE seq = 1 AND at < ${cutoff} AND at > $2::timestamptz ORDER BY at LIMIT $3::int / 4
),
settled AS MATERIALIZED (
  SELECT looked.entity_id, looked.at, e.seq FROM looked CROSS JOIN LATERAL (
    SELECT seq FROM entity WHERE id = looked.entity_id AND kind IN ('call', 'conference') AND settled AND updated_at < ${cutoff} LIMIT 1
  ) AS e
),
portion AS MATERIALIZED (
  SELECT entity_id, at FROM (
    SELECT entity_id, at, sum(seq) OVER (ORDER BY at, entity_id) - seq AS before FROM settled
  ) AS counted WHERE before < $3::int
),
gone AS (
  DELETE FROM journal WHERE ctid = ANY (ARRAY(
    SELECT place FROM portion CROSS JOIN LATERAL (
      SELECT ctid AS place FROM journal WHERE entity_id = portion.entity_id ORDER BY seq DESC LIMIT $3::int
    ) AS inputs
  )) RETURNING 1
)
SELECT (SELECT count(*) FROM gone) AS pruned,
  CASE WHEN (SELECT count(*) FROM portion) < (SELECT count(*) FROM settled) THEN (SELECT max(at)::text FROM portion)
    WHEN (SELECT count(*) FROM looked) = $3::int / 4 THEN (SELECT max(at)::text FROM looked) END AS position`,
  oldest: `
SELECT j.at FROM journal j
WHERE j.seq = 1 AND EXISTS (SELECT 1 FROM entity e WHERE e.id = j.entity_id AND e.kind IN ('call', 'conference') AND e.settled)
ORDER BY j.at LIMIT 1`
}

/**
 * Prunes an entity together with its own row, once its journal and its key are deleted. `at`: the row's column of its
 * beginning; `also`: the part of the statement that deletes other rows before it.
 */
const entityRow = (table: "call" | "conference", at: string, also: string): Retained => ({
  name: table,
  period: "call",
  from: "-infinity",
  index: { name: `${table}_age`, on: `${table} (${at})` },
  prune: `
WITH looked AS MATERIALIZED (
  SELECT id, ${at} AS at FROM ${table}
  WHERE ${at} < ${cutoff} AND ${at} > $2::timestamptz ORDER BY ${at} LIMIT $3::int
),
old AS MATERIALIZED (
  SELECT looked.id FROM looked CROSS JOIN LATERAL (
    SELECT 1 FROM entity WHERE id = looked.id AND settled AND updated_at < ${cutoff} LIMIT 1
  ) AS e
  WHERE NOT EXISTS (SELECT 1 FROM journal WHERE entity_id = looked.id AND seq = 1)
    AND NOT EXISTS (SELECT 1 FROM call_key WHERE id = looked.id)
),
states AS (
  DELETE FROM entity WHERE id = ANY (ARRAY(SELECT id FROM old))
),${also}
gone AS (
  DELETE FROM ${table} WHERE id = ANY (ARRAY(SELECT id FROM old)) RETURNING 1
)${answer}`,
  oldest: `SELECT min(${at}) AS at FROM ${table}`
})

const call = entityRow("call", "initiated_at", "")

const conference = entityRow(
  "conference",
  "created_at",
  `
participants AS (
  DELETE FROM conference_participant WHERE conference_id = ANY (ARRAY(SELECT id FROM old))
),`
)

/**
 * Prunes the key of a settled call or conference when no delivery of its events is or will be under way. There are few
 * keys, so every batch reads them in order of id.
 */
const callKey: Retained = {
  name: "call_key",
  period: "callKey",
  from: "",
  index: null,
  prune: `
WITH looked AS MATERIALIZED (
  SELECT id, id AS at FROM call_key WHERE id > $2::text ORDER BY id LIMIT $3::int
),
needed AS MATERIALIZED (
  SELECT looked.id FROM looked CROSS JOIN LATERAL (
    SELECT 1 FROM entity WHERE id = looked.id AND NOT (settled AND updated_at < ${cutoff})
    UNION ALL
    SELECT 1 FROM event e CROSS JOIN LATERAL (
      SELECT 1 FROM webhook_delivery WHERE event_id = e.id AND due_at IS NOT NULL
      UNION ALL SELECT 1 FROM webhook_fan_out WHERE event_id = e.id
      LIMIT 1
    ) AS unfinished WHERE e.entity_id = looked.id
    LIMIT 1
  ) AS need
),
gone AS (
  DELETE FROM call_key WHERE id = ANY (ARRAY(SELECT id FROM looked EXCEPT SELECT id FROM needed)) RETURNING 1
)${answer}`,
  oldest: null
}

/** Rows are deleted before the rows that they refer to: deliveries before their events, both before the call. */
export const table: ReadonlyArray<Retained> = [
  byTime({ name: "idempotency", period: "receipt", column: "created_at", index: null }),
  byTime({ name: "card_trial", period: "receipt", column: "at", index: null }),
  callKey,
  // `due_at` is null when a delivery is finished.
  byId({ name: "webhook_delivery", time: "created_at", when: "due_at IS NULL", neededBy: null }),
  byId({
    name: "event",
    time: "occurred_at",
    when: "true",
    neededBy: `
    SELECT 1 FROM webhook_delivery WHERE event_id = looked.id
    UNION ALL SELECT 1 FROM webhook_fan_out WHERE event_id = looked.id`
  }),
  journal,
  byTime({
    name: "processor_event",
    period: "processorEvent",
    column: "received_at",
    index: { name: "processor_event_age", on: "processor_event (received_at)" }
  }),
  byTime({ name: "job", period: "event", column: "failed_at", index: null }),
  byTime({
    name: "recording",
    period: "call",
    column: "created_at",
    // Other recordings have a file, which is removed first.
    when: "status IN ('expired', 'failed')",
    index: { name: "recording_age", on: "recording (created_at)" }
  }),
  byTime({
    name: "transcript_segment",
    period: "call",
    column: "started_at",
    index: { name: "transcript_segment_age", on: "transcript_segment (started_at)" }
  }),
  byTime({
    name: "transcription",
    period: "call",
    column: "started_at",
    index: { name: "transcription_age", on: "transcription (started_at)" }
  }),
  byTime({
    name: "machine_detection",
    period: "call",
    column: "detected_at",
    index: { name: "machine_detection_age", on: "machine_detection (detected_at)" }
  }),
  byTime({
    name: "porting_order",
    period: "call",
    column: "updated_at",
    // The documents of the order are deleted with it.
    when: "status IN ('ported', 'cancelled')",
    index: null
  }),
  call,
  conference,
  {
    ...byTime({
      name: "api_key",
      period: "event",
      column: "expires_at",
      // Keys that were not made by a login stay listed.
      when: "is_login",
      index: { name: "api_key_expiry", on: "api_key (expires_at)" }
    }),
    oldest: null
  },
  byTime({
    name: "letter",
    period: "event",
    column: "created_at",
    index: { name: "letter_age", on: "letter (created_at)" }
  }),
  byTime({ name: "account_alarm", period: "call", column: "told_at", index: null }),
  byTime({ name: "usage_detail", period: "call", column: "at", index: null }),
  byTime({ name: "trunk_leg", period: "call", column: "ended_at", index: null }),
  byTime({ name: "usage_day", period: "call", column: "day", index: null }),
  byTime({
    name: "audit",
    period: "call",
    column: "occurred_at",
    index: { name: "audit_age", on: "audit (occurred_at)" }
  })
]
