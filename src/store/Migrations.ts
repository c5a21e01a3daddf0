import { Migrator } from "effect/sql"
import { init } from "./migration/0001_init.ts"

/** Every migration in order; run at start, under a lock, so that two processes that start at once are safe. */
export const run = Migrator.make({})({ loader: Migrator.fromRecord({ "0001_init": init }) })
