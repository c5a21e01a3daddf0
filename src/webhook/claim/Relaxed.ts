/**
 * The part of a statement that makes its transaction not wait for the disk. It has an effect only if the statement
 * reads from it.
 *
 * It is for claims, outcomes and the fan-out: when a crash of the database undoes one of them, the row is as before,
 * and the attempt is made again, like one whose outcome was lost. So they do not delay the disk writes of commits, for
 * which clients wait.
 */
export const relaxed = `relaxed AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true)
)`
