import { Schema } from "effect"
import type { Overview } from "../../../money/account/Account.ts"
import { Balance } from "../../../money/billing/Billing.ts"
import * as Field from "../../../domain/schema/Field.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Tenant } from "../../../tenancy/tenant/Tenant.ts"

const cap = (description: string, example: number) => Field.centsOrNull(`${description} Null: no cap.`, example)

/** `quota` of the account, guide/money.md#quota. */
const limits = {
  dailySpendCapCents: cap("What may be spent in a day, UTC.", 10_000),
  monthlySpendCapCents: cap("What may be spent in a month, UTC.", 100_000),
  concurrentCallLimit: Field.count("How many calls may live at once.", 10),
  allowCallerIdForwarding: Field.flag("Whether `caller_id_forwarding` is accepted.", false)
}

const Limits = Wire.struct(limits).pipe(Schema.annotateEncoded({ description: "Caps, set by the operator." }))

/** Answer of `GET /v1/account`. */
export const Account = Schema.Struct({
  tenant: Tenant,
  balance: Balance,
  quota: Limits
}).annotate({ identifier: "Account" })

/** Answer of `GET /v1/quota`. */
export const Quota = Wire.struct({
  ...limits,
  dailySpendCents: Field.signedCents("Spent since midnight, UTC.", 120),
  monthlySpendCents: Field.signedCents("Spent since the first of the month, UTC.", 2_400),
  concurrentCalls: Field.count("Calls that live now.", 2),
  dailyResetsAt: Field.time("The next midnight.", "2026-01-02T00:00:00.000Z"),
  monthlyResetsAt: Field.time("The next first of the month.", "2026-02-01T00:00:00.000Z")
}).pipe(Schema.annotateEncoded({ identifier: "Quota" }))

const encodeLimits = Wire.encoder(Limits)
export const limitsOf = ({ quota }: Overview): (typeof Account.Encoded)["quota"] => encodeLimits(quota)

const encodeQuota = Wire.encoder(Quota)
export const quotaOf = ({ quota, tally }: Overview, now: number): typeof Quota.Encoded => {
  const today = new Date(now)
  const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()]
  return encodeQuota({
    ...quota,
    dailySpendCents: tally.daySpentCents,
    monthlySpendCents: tally.monthSpentCents,
    concurrentCalls: tally.liveCalls,
    dailyResetsAt: Date.UTC(year, month, date + 1),
    monthlyResetsAt: Date.UTC(year, month + 1, 1)
  })
}
