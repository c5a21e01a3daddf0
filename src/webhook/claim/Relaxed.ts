/**
 * The part of a statement that lets its transaction not wait for the disk; it counts where the statement reads from it.
 *
 * For claims, outcomes and the fan-out: when a crash of the database undoes one of them, the row is as it was, and the
 * attempt is made again, like one whose outcome was lost. So they take no turn at the disk from the commits, for which
 * somebody waits.
 */
export const relaxed = `relaxed AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true)
)`
