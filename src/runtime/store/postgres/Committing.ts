import type * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Metric } from "effect"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { Stopping } from "../../process/Stopping.ts"
import * as WritePermit from "../../process/WritePermit.ts"
import { WriteFence } from "../owner/WriteFence.ts"
import * as Backend from "./Backend.ts"
import type { Session } from "./Session.ts"

const unknown = Metric.counter("database_commits_unknown_total", {
  description: "Transactions whose COMMIT got no answer, and whose outcome was then read"
})

/** The wait before an unreachable database is asked again for the outcome of a transaction. */
const againMs = 500

/**
 * The last statement of a transaction before its COMMIT. If the transaction wrote anything, it holds an epoch of this
 * process until the end, and writes a witness: one row for each session, with a token of this transaction.
 */
const witness = `
WITH wrote AS MATERIALIZED (SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS yes),
held AS MATERIALIZED (
  SELECT o.partition FROM journal_owner o
  WHERE (SELECT yes FROM wrote) AND o.partition = ANY ($1::int[])
    AND o.epoch = ($2::bigint[])[array_position($1::int[], o.partition)]
  ORDER BY o.partition FOR KEY SHARE
),
mine AS MATERIALIZED (SELECT ${Backend.columns}),
left_behind AS (
  INSERT INTO transaction_witness (backend, token, at)
  SELECT pid || '/' || "startedAt", $3, now() FROM mine WHERE EXISTS (SELECT FROM held)
  ON CONFLICT (backend) DO UPDATE SET token = excluded.token, at = excluded.at
)
SELECT (SELECT yes FROM wrote) AS wrote, EXISTS (SELECT FROM held) AS held, pid, "startedAt" FROM mine`

interface Witness extends Backend.Backend {
  readonly wrote: boolean
  readonly held: boolean
}

/** The outcome of a transaction stays unknown, because the process stops first. */
class OutcomeUnknown extends Error {
  constructor() {
    super("the process stops before the outcome of a transaction could be read")
  }
}

/**
 * COMMIT, with a true answer: it succeeds when the transaction is in the database, and fails when it is not and never
 * will be. When the server's answer is lost, it ends the session, which may still be at work, and reads the witness;
 * while the database is unreachable, it waits for that (src/runtime/README.md#one-writer).
 *
 * A process that lost the journal commits nothing: it dies with `JournalLost`. Nor does a request commit that may not
 * write any more (`WritePermit`): it dies with `WriteRefused`.
 */
export const make = Effect.gen(function* () {
  const fence = yield* WriteFence
  const stopping = yield* Stopping

  return (config: PgConnection.Config, token: () => string) => {
    const isThere = ({ pid, startedAt }: Backend.Backend, nth: string) =>
      Effect.map(
        Backend.alone(config, `SELECT FROM transaction_witness WHERE backend = $1 AND token = $2`, [
          `${pid}/${startedAt}`,
          nth
        ]),
        (rows) => rows.length > 0
      )

    const settle = Effect.fnUntraced(function* (backend: Backend.Backend, nth: string, error: SqlError) {
      yield* Metric.update(unknown, 1)
      yield* Effect.logWarning("a transaction's COMMIT got no answer; its outcome is read", error.message)
      const outcome = Effect.andThen(Backend.end(config, backend), isThere(backend, nth)).pipe(
        Effect.catch(() => Effect.as(Effect.sleep(againMs), null)),
        Effect.repeat({ while: (known) => known === null })
      )
      const known = yield* Effect.raceFirst(
        Effect.interruptible(outcome),
        Effect.as(Effect.interruptible(stopping), null)
      )
      if (known === null) return yield* Effect.die(new OutcomeUnknown())
      if (!known) return yield* error
    })

    /** Postgres answers ROLLBACK to the COMMIT of a transaction that has failed. */
    const commit = (session: Session) =>
      // The statement is not prepared, so that a test that watches the connection sees it.
      Effect.flatMap(session.query("COMMIT", [], false), ({ command }) =>
        command === "ROLLBACK" ? Effect.fail(aborted) : Effect.void
      )

    const rollback = (session: Session) => Effect.ignore(session.query("ROLLBACK"))

    /** Called last, so that hardly any time is left in which the right may be lost. */
    const permitted = (session: Session, permit: WritePermit.Permit | null) =>
      Effect.flatMap(WritePermit.refusal(permit), (refused) =>
        refused === null
          ? Effect.void
          : Effect.andThen(rollback(session), Effect.die(new WritePermit.WriteRefused(refused)))
      )

    return Effect.fnUntraced(function* (session: Session): Effect.fn.Return<void, SqlError> {
      const claim = fence.claim()
      const permit = yield* WritePermit.WritePermit
      if (claim === null) {
        yield* permitted(session, permit)
        yield* commit(session)
        return WritePermit.used(permit)
      }
      const nth = token()
      const { rows } = yield* Effect.tapError(
        session.query(witness, [`{${[...claim.held.keys()].join()}}`, `{${[...claim.held.values()].join()}}`, nth]),
        () => rollback(session)
      )
      const left = rows[0] as unknown as Witness
      if (!left.wrote) return yield* commit(session)
      if (!left.held)
        return yield* Effect.andThen(
          rollback(session),
          Effect.suspend(() => Effect.die(claim.lost()))
        )
      yield* permitted(session, permit)
      yield* Effect.catch(commit(session), (error) => settle(left, nth, error))
      WritePermit.used(permit)
    })
  }
})

const aborted = new SqlError({
  reason: new UnknownError({
    cause: new Error("COMMIT of a transaction that had failed"),
    message: "COMMIT of a transaction that had failed",
    operation: "commit"
  })
})
