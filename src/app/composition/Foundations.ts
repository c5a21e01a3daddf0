import { type Effect, Layer } from "effect"
import { AuditLog } from "../../runtime/audit/Audit.ts"
import { Bans } from "../../carrier/ban/Ban.ts"
import { Billing } from "../../money/billing/Billing.ts"
import { Trunks } from "../../numbers/trunk/Trunk.ts"
import type * as TargetPolicy from "../../ports/egress/TargetPolicy.ts"
import { Idempotency } from "../../runtime/idempotency/Idempotency.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { Letters } from "../../ports/letter/Letter.ts"
import { Invoices } from "../../money/invoice/Invoice.ts"
import { Proofs } from "../../money/proof/Proof.ts"
import { Retention } from "../../runtime/retention/Retention.ts"
import { Targets } from "../../tenancy/target/Target.ts"
import { Usages } from "../../money/usage/Usage.ts"
import type { Config } from "../boot/config/Config.ts"

type Options = Pick<Config, "baseUrl" | "retentionDays" | "signupCreditCents"> & {
  readonly policy: TargetPolicy.TargetPolicy
  readonly lookup: (name: string) => Effect.Effect<ReadonlyArray<string>>
}

/**
 * The foundations of accounts and calls over the journal. They follow rows (jobs, retention, the peers and targets that
 * other processes change too) and measure no call.
 */
export const layer = (options: Options) =>
  Layer.mergeAll(
    Bans.layer,
    Idempotency.layer,
    Retention.layer({ days: options.retentionDays }),
    Targets.layer(options.policy)
  ).pipe(Layer.provideMerge(accounts(options)))

export const accounts = (options: Omit<Options, "policy" | "retentionDays">) =>
  Layer.mergeAll(
    Billing.layer({ trialCreditCents: options.signupCreditCents }),
    Trunks.layer({ lookup: options.lookup }),
    AuditLog.layer,
    Proofs.layer,
    Invoices.layer(options),
    Usages.layer
  ).pipe(Layer.provideMerge(Letters.layer(options)), Layer.provideMerge(Jobs.layer()))
