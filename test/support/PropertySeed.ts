/**
 * Properties draw the same cases in every run, so a run that turns red tells of the change before it and not of luck.
 * `PROPERTY_SEED=random` draws new ones each time, any other value draws others; what fails prints how to replay it.
 */
import * as Arbitrary from "effect/Arbitrary"

const seed = process.env["PROPERTY_SEED"] ?? "trunkline"
if (seed !== "random") Arbitrary.configureGlobal({ check: { seed }, sample: { seed } })
