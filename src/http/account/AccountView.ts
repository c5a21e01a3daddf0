import { Schema } from "effect"
import type { Overview } from "../../account/Account.ts"
import { Balance } from "../../billing/BillingView.ts"
import * as Timestamp from "../../domain/Timestamp.ts"
import { Tenant } from "../../tenant/TenantView.ts"

const Cap = Schema.NullOr(Schema.Int).annotate({ description: "`null`: no cap." })

/** `quota` of the account, guide/money.md#quota. */
const limits = {
  daily_spend_cap_cents: Cap,
  monthly_spend_cap_cents: Cap,
  concurrent_call_limit: Schema.Int,
  allow_caller_id_forwarding: Schema.Boolean
}

/** Answer of `GET /v1/account`. */
export const Account = Schema.Struct({
  tenant: Tenant,
  balance: Balance,
  quota: Schema.Struct(limits)
}).annotate({ identifier: "Account" })

/** Answer of `GET /v1/quota`. */
export const Quota = Schema.Struct({
  ...limits,
  daily_spend_cents: Schema.Int,
  monthly_spend_cents: Schema.Int,
  concurrent_calls: Schema.Int,
  daily_resets_at: Schema.String,
  monthly_resets_at: Schema.String
}).annotate({ identifier: "Quota" })

export const limitsOf = ({ quota }: Overview): (typeof Account.Type)["quota"] => ({
  daily_spend_cap_cents: quota.dailySpendCapCents,
  monthly_spend_cap_cents: quota.monthlySpendCapCents,
  concurrent_call_limit: quota.concurrentCallLimit,
  allow_caller_id_forwarding: quota.allowCallerIdForwarding
})

export const quotaOf = (overview: Overview, now: number): typeof Quota.Type => {
  const { tally } = overview
  const today = new Date(now)
  const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()]
  return {
    ...limitsOf(overview),
    daily_spend_cents: tally.daySpentCents,
    monthly_spend_cents: tally.monthSpentCents,
    concurrent_calls: tally.liveCalls,
    daily_resets_at: Timestamp.format(Date.UTC(year, month, date + 1)),
    monthly_resets_at: Timestamp.format(Date.UTC(year, month + 1, 1))
  }
}
