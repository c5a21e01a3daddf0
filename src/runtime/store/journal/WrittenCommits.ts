import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Commit, EntityWrite } from "./Journal.ts"

/** The part of some commits that the database has. */
interface Written {
  readonly has: (commit: Commit) => boolean
  readonly balances: Readonly<Record<string, number>>
}

/**
 * Finds the written commits after a lost answer: a commit whose input, money or audit line is in the database was
 * written by the statement without an answer. Another owner may have written an input with the same number meanwhile;
 * the seed distinguishes the two. A commit with none of these (a receipt) may be written again, which changes nothing.
 */
export const find = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, commits: ReadonlyArray<Commit>) {
  const entities = commits.flatMap((commit) => commit.entities)
  const causes = commits.flatMap((commit) => commit.money.map(({ cause }) => cause))
  const lines = commits.flatMap((commit) => commit.audit.map(({ id }) => id))
  const keys = new Set(
    (entities.length === 0
      ? []
      : yield* sql<{ readonly key: string }>`
          SELECT entity_id || ':' || seq || ':' || seed AS key FROM journal
          WHERE (entity_id || ':' || seq || ':' || seed) IN ${sql.in(entities.map(keyOf))}
            AND entity_id IN ${sql.in(entities.map(({ id }) => id))}`
    ).map(({ key }) => key)
  )
  const balances = Object.fromEntries(
    (causes.length === 0
      ? []
      : yield* sql<{ readonly cause: string; readonly after: number }>`
          SELECT cause, balance_after_cents AS after FROM ledger WHERE cause IN ${sql.in(causes)}`
    ).map(({ after, cause }) => [cause, after])
  )
  const audited = new Set(
    (lines.length === 0
      ? []
      : yield* sql<{ readonly id: string }>`SELECT id FROM audit WHERE id IN ${sql.in(lines)}`
    ).map(({ id }) => id)
  )
  return {
    balances,
    has: ({ audit, entities: of, money }) =>
      of.some((entity) => keys.has(keyOf(entity))) ||
      money.some(({ cause }) => balances[cause] !== undefined) ||
      audit.some(({ id }) => audited.has(id))
  } satisfies Written
})

const keyOf = ({ id, input, seq }: EntityWrite): string => `${id}:${seq}:${input.seed}`
