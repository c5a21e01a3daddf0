import { Layer } from "effect"
import * as TargetPolicy from "../egress/TargetPolicy.ts"
import { Idempotency } from "../idempotency/Idempotency.ts"
import { Jobs } from "../job/Jobs.ts"
import { Retention } from "../retention/Retention.ts"
import { Targets } from "../target/Target.ts"

/** What the features stand on, over the journal: receipts, jobs, retention, the rules for targets. They follow rows. */
export const layer = (options: {
  readonly retentionDays: { readonly event: number; readonly call: number }
  readonly policy: TargetPolicy.TargetPolicy
}) =>
  Layer.merge(Idempotency.layer, Retention.layer({ days: options.retentionDays })).pipe(
    Layer.provideMerge(Layer.merge(Jobs.layer(), Targets.layer(options.policy)))
  )
