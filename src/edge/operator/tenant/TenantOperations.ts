import { Effect, Schema, Struct } from "effect"
import { Accounts, type Operator } from "../../../money/account/Account.ts"
import { Billing } from "../../../money/billing/Billing.ts"
import { Closings } from "../../../tenancy/closing/Closing.ts"
import { Calls } from "../../../telephony/call/Call.ts"
import type { TenantId } from "../../../domain/Id.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { Funding } from "../../../money/funding/Funding.ts"
import * as Money from "../../../domain/Money.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as EndedCalls from "../call/EndedCalls.ts"
import * as Operation from "../door/Operation.ts"
import * as PayoutView from "./PayoutView.ts"

const operator: Operator = { type: "operator", name: "operator" }

const Cap = Schema.NullOr(Operation.Cents.check(Schema.isBetween({ minimum: 0, maximum: Money.mostCents })))
const Days = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3650 }))
/** At most so many are listed; the newest come first. */
const listLimit = 1000

const doneUnseen = ApiError.of(
  "internal_error",
  "it is done, but the tenant cannot be shown at the moment; do not repeat it"
)

const OneTenant = Schema.Struct({ tenant: Operation.TenantRef })

const limits = {
  dailySpendCapCents: Cap,
  monthlySpendCapCents: Cap,
  concurrentCallLimit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e6 })),
  allowCallerIdForwarding: Schema.Boolean,
  webhookSubscriptionLimit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))
}
const quotaOf = Wire.encoder(Wire.struct(limits))
const usageOf = Wire.encoder(
  Wire.struct(
    { daySpentCents: Schema.Int, monthSpentCents: Schema.Int, liveCalls: Schema.Int, reservedCents: Schema.Int },
    { daySpentCents: "daily_spend_cents", monthSpentCents: "monthly_spend_cents", liveCalls: "concurrent_calls" }
  )
)

/** `tenant list`, `show`, `credit`, `quota`, `suspend`, `reactivate`, `close`, `payout`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const accounts = yield* Accounts
  const billing = yield* Billing
  const calls = yield* Calls
  const closings = yield* Closings
  const funding = yield* Funding

  const show = Effect.fn("TenantOperations.show")(function* (ref: string) {
    const tenant = yield* tenants.findByReference(ref)
    const { quota, status, suspensionReason, tally } = yield* accounts.overview(tenant.id)
    return {
      ...tenant,
      status,
      suspension_reason: suspensionReason,
      balance: yield* billing.balance(tenant.id),
      payout: PayoutView.of(yield* funding.payout(tenant.id)),
      quota: quotaOf(quota),
      usage: usageOf(tally)
    }
  })

  /**
   * The account ignores a change of status that does not apply (a closed tenant stays closed). The operator is told so.
   */
  const expect = (tenantId: TenantId, wanted: "active" | "suspended") =>
    Effect.flatMap(accounts.overview(tenantId), ({ status }) =>
      status === wanted ? Effect.void : Effect.fail(ApiError.of("conflict", `the tenant is ${status}`))
    )

  const endCalls = (id: TenantId) => Effect.map(calls.endAll(id, "tenant_suspended"), EndedCalls.view)

  /** Changes the tenant, then shows it. What is done is never told as refused: a credit that is repeated counts twice. */
  const change =
    <E, Input extends { readonly tenant: string }>(
      apply: (tenantId: TenantId, input: Input) => Effect.Effect<unknown, E>
    ) =>
    (input: Input) =>
      tenants.findByReference(input.tenant).pipe(
        Effect.tap(({ id }) => apply(id, input)),
        Effect.flatMap(({ id }) =>
          Effect.catchCause(show(id), (cause) =>
            Effect.andThen(
              Effect.logWarning("a tenant that was changed cannot be shown", cause),
              Effect.fail(doneUnseen)
            )
          )
        )
      )

  return [
    Operation.make("tenant/list", Operation.Nothing, () =>
      Effect.map(tenants.list({ limit: listLimit, offset: 0 }), (results) => ({ results }))
    ),
    Operation.make("tenant/show", OneTenant, ({ tenant }) => show(tenant)),
    Operation.make(
      "tenant/credit",
      Schema.Struct({
        tenant: Operation.TenantRef,
        cents: Operation.Cents,
        reason: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))
      }),
      change((id, { cents, reason }) => Effect.andThen(billing.adjust(id, cents, reason), accounts.moneyMoved(id)))
    ),
    Operation.make(
      "tenant/quota",
      Wire.struct({
        tenant: Operation.TenantRef,
        dailySpendCapCents: Schema.optionalKey(limits.dailySpendCapCents),
        monthlySpendCapCents: Schema.optionalKey(limits.monthlySpendCapCents),
        concurrentCallLimit: Schema.optionalKey(limits.concurrentCallLimit),
        allowCallerIdForwarding: Schema.optionalKey(limits.allowCallerIdForwarding),
        webhookSubscriptionLimit: Schema.optionalKey(limits.webhookSubscriptionLimit),
        creditLimitCents: Schema.optionalKey(Operation.Cents.check(Schema.isGreaterThanOrEqualTo(0)))
      }),
      change((id, input) =>
        Effect.gen(function* () {
          const { creditLimitCents } = input
          const quota = Struct.omit(input, ["tenant", "creditLimitCents"])
          if (Object.keys(quota).length > 0) yield* accounts.setQuota(id, quota, operator)
          if (creditLimitCents === undefined) return
          yield* billing.setCreditLimit(id, creditLimitCents)
          yield* accounts.moneyMoved(id)
        })
      )
    ),
    Operation.make(
      "tenant/suspend",
      Schema.Struct({
        tenant: Operation.TenantRef,
        reason: Schema.optionalKey(Schema.Literals(["operator", "fraud_review"])),
        end_calls: Schema.optionalKey(Schema.Boolean)
      }),
      Effect.fnUntraced(function* ({ end_calls = false, reason, tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        // Asked again to end the calls, a review of fraud stays one.
        const { suspensionReason } = yield* accounts.overview(id)
        const because = reason ?? (suspensionReason === "fraud_review" ? suspensionReason : "operator")
        yield* Effect.andThen(accounts.suspend(id, because, operator), expect(id, "suspended"))
        return { ...(yield* show(id)), ...(end_calls ? yield* endCalls(id) : {}) }
      })
    ),
    Operation.make(
      "tenant/reactivate",
      OneTenant,
      change((id) => Effect.andThen(accounts.reactivate(id, null, operator), expect(id, "active")))
    ),
    // Running calls of a suspended tenant go on to their end, unless the operator ends them. Those of a closed one are
    // ended, because nobody else could.
    Operation.make(
      "tenant/close",
      Schema.Struct({
        tenant: Operation.TenantRef,
        erase_after_days: Schema.optionalKey(Days),
        refund: Schema.optionalKey(Schema.Boolean)
      }),
      Effect.fnUntraced(function* ({ erase_after_days = null, refund = false, tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        yield* accounts.close(id, operator)
        yield* closings.eraseAfter(id, erase_after_days)
        const ended = yield* endCalls(id)
        if (refund) yield* closings.refund(id)
        return { ...(yield* show(id)), ...ended }
      })
    ),
    Operation.make("tenant/payout", OneTenant, change(closings.refund))
  ]
})
