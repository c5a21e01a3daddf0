import { type Effect, Layer } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import { Bans } from "../ban/Ban.ts"
import { Billing } from "../billing/Billing.ts"
import { Connections } from "../connection/Connection.ts"
import type * as TargetPolicy from "../egress/TargetPolicy.ts"
import { Idempotency } from "../idempotency/Idempotency.ts"
import { Jobs } from "../job/Jobs.ts"
import { Letters } from "../letter/Letter.ts"
import { Invoices } from "../invoice/Invoice.ts"
import { Proofs } from "../proof/Proof.ts"
import { Retention } from "../retention/Retention.ts"
import { Targets } from "../target/Target.ts"
import { Usages } from "../usage/Usage.ts"
import type { Config } from "./Config.ts"

type Options = Pick<Config, "baseUrl" | "retentionDays" | "signupCreditCents"> & {
  readonly policy: TargetPolicy.TargetPolicy
  /** The addresses of a name. */
  readonly lookup: (name: string) => Effect.Effect<ReadonlyArray<string>>
}

/**
 * What accounts and calls stand on, over the journal: what follows rows (jobs, retention, the peers and targets that
 * other processes change too), and measures no call.
 */
export const layer = (options: Options) =>
  Layer.mergeAll(
    Bans.layer,
    Idempotency.layer,
    Retention.layer({ days: options.retentionDays }),
    Targets.layer(options.policy)
  ).pipe(Layer.provideMerge(accounts(options)))

/** Those of them that accounts stand on. */
export const accounts = (options: Omit<Options, "policy" | "retentionDays">) =>
  Layer.mergeAll(
    Billing.layer({ trialCreditCents: options.signupCreditCents }),
    Connections.layer({ lookup: options.lookup }),
    AuditLog.layer,
    Proofs.layer,
    Invoices.layer(options),
    Usages.layer
  ).pipe(Layer.provideMerge(Letters.layer(options)), Layer.provideMerge(Jobs.layer()))
