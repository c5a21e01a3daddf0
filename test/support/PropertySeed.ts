/**
 * Properties draw the same cases in every run, so a run that turns red is caused by the change before it and not by
 * luck. `PROPERTY_SEED=random` draws new cases each time, any other value draws others. A failure prints how to replay
 * it.
 */
import * as Arbitrary from "effect/Arbitrary"

const seed = process.env["PROPERTY_SEED"] ?? "trunkline"
if (seed !== "random") Arbitrary.configureGlobal({ check: { seed }, sample: { seed } })
