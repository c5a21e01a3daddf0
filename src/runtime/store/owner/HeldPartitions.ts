import type { Journal } from "../journal/Journal.ts"

/**
 * SQL for a statement that writes outside of a transaction (src/runtime/README.md#one-writer): the partitions that this
 * process holds, as the part `held` of a `WITH`. It locks their epochs until the statement has ended, and has no row
 * for a partition that another process took. The statement writes rows of these partitions only.
 */
export const held = (partitions: string, epochs: string): string => `
held AS MATERIALIZED (
  SELECT o.partition FROM journal_owner o
  WHERE o.partition = ANY (${partitions}::int[])
    AND o.epoch = (${epochs}::bigint[])[array_position(${partitions}::int[], o.partition)]
  ORDER BY o.partition FOR KEY SHARE
)`

/** The values of the parameters `partitions` and `epochs`. */
export const parameters = (journal: Pick<Journal["Service"], "partitions" | "epoch">): readonly [string, string] => {
  const partitions = journal.partitions()
  return [`{${partitions.join()}}`, `{${partitions.map((partition) => journal.epoch(partition)).join()}}`]
}
