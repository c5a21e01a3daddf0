import { Migrator } from "effect/sql"
import { init } from "./migration/0001_init.ts"
import { partition } from "./migration/0002_partition.ts"
import { job } from "./migration/0003_job.ts"
import { time } from "./migration/0004_time.ts"
import { trunkHost } from "./migration/0005_trunk_host.ts"
import { fanOut } from "./migration/0006_fan_out.ts"
import { owner } from "./migration/0009_owner.ts"
import { retention } from "./migration/0011_retention.ts"
import { trunkLimit } from "./migration/0012_trunk_limit.ts"

/** Every migration in order; run at start, under a lock, so that two processes that start at once are safe. */
export const run = Migrator.make({})({
  loader: Migrator.fromRecord({
    "0001_init": init,
    "0002_partition": partition,
    "0003_job": job,
    "0004_time": time,
    "0005_trunk_host": trunkHost,
    "0006_fan_out": fanOut,
    "0009_owner": owner,
    "0011_retention": retention,
    "0012_trunk_limit": trunkLimit
  })
})
