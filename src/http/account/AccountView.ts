import { Schema } from "effect"
import type { Overview } from "../../account/Account.ts"
import { Balance } from "../../billing/BillingView.ts"
import * as Field from "../../domain/Field.ts"
import * as Timestamp from "../../domain/Timestamp.ts"
import { Tenant } from "../../tenant/TenantView.ts"

const cap = (description: string, example: number) => Field.centsOrNull(`${description} Null: no cap.`, example)

/** `quota` of the account, guide/money.md#quota. */
const limits = {
  daily_spend_cap_cents: cap("What may be spent in a day, UTC.", 10_000),
  monthly_spend_cap_cents: cap("What may be spent in a month, UTC.", 100_000),
  concurrent_call_limit: Field.count("How many calls may live at once.", 10),
  allow_caller_id_forwarding: Field.flag("Whether `caller_id_forwarding` is accepted.", false)
}

/** Answer of `GET /v1/account`. */
export const Account = Schema.Struct({
  tenant: Tenant,
  balance: Balance,
  quota: Schema.Struct(limits).annotate({ description: "Caps, set by the operator." })
}).annotate({ identifier: "Account" })

/** Answer of `GET /v1/quota`. */
export const Quota = Schema.Struct({
  ...limits,
  daily_spend_cents: Field.signedCents("Spent since midnight, UTC.", 120),
  monthly_spend_cents: Field.signedCents("Spent since the first of the month, UTC.", 2_400),
  concurrent_calls: Field.count("Calls that live now.", 2),
  daily_resets_at: Field.moment("The next midnight.", "2026-01-02T00:00:00.000Z"),
  monthly_resets_at: Field.moment("The next first of the month.", "2026-02-01T00:00:00.000Z")
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
