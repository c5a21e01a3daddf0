import { Effect } from "effect"
import type { Sign, Signs } from "./OwnerMachine.ts"
import type { OwnerSession } from "./OwnerSession.ts"

/**
 * The statements of an owner and of a standby. A standby reads and raises only columns that are in every schema since
 * the first one, because it migrates the database only when it owns it.
 */

/** The advisory lock of partition 0; the others follow. No other program uses these numbers in this database. */
const firstLockId = 7_305_060

/** A statement without an answer is given up after this time. */
const answerMs = 5_000
/** The limit for raising an epoch, which waits for the commits of its owner. */
const raiseMs = 40_000

/**
 * Makes the server end the session of an owner that has been idle for 45 s, which frees its lock, because a process
 * that hangs keeps its connections. Servers before version 14 cannot.
 */
const idle = `CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL
  THEN set_config('idle_session_timeout', '45s', false) END`

/** A text that changes with each heartbeat. */
const beat = "concat_ws(' ', extract(epoch FROM o.heartbeat_at), o.time_ms)"

const hasTable = (session: OwnerSession) =>
  Effect.map(
    session.run("SELECT to_regclass('journal_owner') IS NOT NULL AS found", [], answerMs),
    ([row]) => row?.["found"] === true
  )

/** Reads the signs of these partitions. A partition that was never owned has none. */
export const look = Effect.fnUntraced(function* (session: OwnerSession, partitions: ReadonlyArray<number>) {
  if (!(yield* hasTable(session))) return new Map<number, Sign>()
  const rows = yield* session.run(
    `SELECT o.partition, o.epoch, ${beat} AS beat, o.holder,
       coalesce(o.ended_epoch = o.epoch, false) AS ended
     FROM journal_owner o WHERE o.partition = ANY ($1::int[])`,
    [`{${partitions.join()}}`],
    answerMs
  )
  return new Map(
    (
      rows as ReadonlyArray<{ partition: number; epoch: number; beat: string; holder: string | null; ended: boolean }>
    ).map(({ ended, partition, ...sign }): [number, Sign] => [partition, { ...sign, hasEnded: ended }])
  )
})

/**
 * Takes the locks of all these partitions, or none. The session must hold none of them. One that holds one is also the
 * session of another process, to which a pooler has given it: a session may take its locks twice, so the statement
 * takes none there.
 */
export const lock = Effect.fnUntraced(function* (session: OwnerSession, partitions: ReadonlyArray<number>) {
  const [row] = yield* session.run(
    `WITH asked AS MATERIALIZED (SELECT ${firstLockId}::bigint + partition AS id FROM unnest($1::int[]) AS partition),
     here AS MATERIALIZED (SELECT EXISTS (
       SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
         AND (classid::bigint << 32) + objid::bigint IN (SELECT id FROM asked)
     ) AS shared)
     SELECT bool_or(shared) AS shared,
       bool_and(CASE WHEN shared THEN false ELSE pg_try_advisory_lock(id) END) AS locked
     FROM asked, here`,
    [`{${partitions.join()}}`],
    answerMs
  )
  if (row?.["locked"] === true) return true
  if (row?.["shared"] === true)
    yield* Effect.logWarning("a pooler gives this process the database session of an owner, so it cannot own anything")
  else yield* unlock(session)
  return false
})

const unlock = (session: OwnerSession) => session.run("SELECT pg_advisory_unlock_all()", [], answerMs)

/**
 * Raises the epochs of all these partitions if their signs are still the given ones. Otherwise it raises none, gives
 * the locks back and returns null. A partition without a sign has epoch 0.
 */
export const raise = Effect.fnUntraced(function* (
  session: OwnerSession,
  partitions: ReadonlyArray<number>,
  signs: Signs
) {
  const epochs = new Map(partitions.map((partition): [number, number] => [partition, 0]))
  if (signs.size === 0) return epochs
  const asked = [...signs].map(([partition, sign]) => ({ partition, epoch: sign.epoch, beat: sign.beat }))
  const rows = (yield* session.run(
    `WITH same AS MATERIALIZED (
       SELECT o.partition FROM journal_owner o
         JOIN jsonb_to_recordset($1::jsonb) AS a(partition int, epoch bigint, beat text) ON a.partition = o.partition
       WHERE o.epoch = a.epoch AND ${beat} = a.beat ORDER BY o.partition FOR UPDATE OF o
     )
     UPDATE journal_owner o SET epoch = o.epoch + 1 FROM same
     WHERE o.partition = same.partition AND (SELECT count(*) FROM same) = $2::int
     RETURNING o.partition, o.epoch`,
    [JSON.stringify(asked), asked.length],
    raiseMs
  )) as ReadonlyArray<{ partition: number; epoch: number }>
  if (rows.length < asked.length) {
    yield* unlock(session)
    return null
  }
  for (const { epoch, partition } of rows) epochs.set(partition, epoch)
  return epochs
})

interface Beat {
  readonly partition: number
  readonly epoch: number
  readonly time: number
  /** When the partition was taken, in seconds of the database's clock. */
  readonly taken: number
  /** Entities that the previous process left are being rebuilt. Its last heartbeat is kept meanwhile. */
  readonly recovering: boolean
}

/**
 * Writes heartbeats, the last ones if `hasEnded`; gives the partitions that are still held. From the first heartbeat on
 * the server ends the session when they stop. It does not before, because migrations take as long as they need.
 */
export const beats = (session: OwnerSession, given: ReadonlyArray<Beat>, hasEnded: boolean) =>
  Effect.map(
    // The rows are locked in the order in which a batch locks them.
    session.run(
      `WITH beat AS MATERIALIZED (
         SELECT o.partition, h."time", h.taken, h.recovering
         FROM jsonb_to_recordset($1::jsonb)
           AS h(partition int, epoch bigint, "time" float8, taken float8, recovering boolean)
           JOIN journal_owner o ON o.partition = h.partition AND o.epoch = h.epoch
         ORDER BY o.partition FOR NO KEY UPDATE OF o
       )
       UPDATE journal_owner o SET heartbeat_at = clock_timestamp(), time_ms = h.time,
         ended_epoch = CASE WHEN $2::boolean THEN o.epoch ELSE o.ended_epoch END,
         alive_ms = CASE WHEN h.recovering AND EXISTS (
           SELECT 1 FROM entity e WHERE e.partition = o.partition AND e.kind = 'call' AND NOT e.settled
             AND e.updated_at < to_timestamp(h.taken)
         ) THEN o.alive_ms ELSE h.time END
       FROM beat h WHERE o.partition = h.partition RETURNING o.partition, ${idle}`,
      [JSON.stringify(given), hasEnded],
      answerMs
    ),
    (rows) => rows.map((row) => row["partition"] as number)
  )
