import { Clock, Effect, Schema, Struct } from "effect"
import { Accounts, type Operator } from "../../../money/account/Account.ts"
import { Billing } from "../../../money/billing/Billing.ts"
import { Closings } from "../../../tenancy/closing/Closing.ts"
import { Calls } from "../../../telephony/call/Call.ts"
import type { TenantId } from "../../../domain/Id.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { Funding } from "../../../money/funding/Funding.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import * as Money from "../../../domain/Money.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Recordings } from "../../../telephony/recording/Recording.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as EndedCalls from "../call/EndedCalls.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as OperatorAudit from "../command/OperatorAudit.ts"
import * as PayoutView from "./PayoutView.ts"
import * as TenantExport from "./TenantExport.ts"
import * as TenantReference from "./TenantReference.ts"

const operator: Effect.Effect<Operator> = Effect.map(Audit.operator, ({ name }) => ({ type: "operator", name }))
const listLimit = 1000

const Cap = Schema.NullOr(Flag.between(0, Money.mostCents))
const limits = {
  dailySpendCapCents: Cap,
  monthlySpendCapCents: Cap,
  concurrentCallLimit: Flag.between(0, 1e6),
  allowCallerIdForwarding: Schema.Boolean,
  webhookSubscriptionLimit: Flag.between(0, 10_000)
}
const quotaOf = Wire.encoder(Wire.struct(limits))
const usageOf = Wire.encoder(
  Wire.struct(
    { daySpentCents: Schema.Int, monthSpentCents: Schema.Int, liveCalls: Schema.Int, reservedCents: Schema.Int },
    { daySpentCents: "daily_spend_cents", monthSpentCents: "monthly_spend_cents", liveCalls: "concurrent_calls" }
  )
)

const show = Effect.fn("TenantCommands.show")(function* (reference: string) {
  const tenant = yield* (yield* Tenants).findByReference(reference)
  const { quota, status, suspensionReason, tally } = yield* (yield* Accounts).overview(tenant.id)
  return {
    ...tenant,
    status,
    suspension_reason: suspensionReason,
    balance: yield* (yield* Billing).balance(tenant.id),
    payout: PayoutView.of(yield* (yield* Funding).payout(tenant.id)),
    quota: quotaOf(quota),
    usage: usageOf(tally)
  }
})

/** Fails when the account ignored a change of status because it does not apply: a closed tenant stays closed. */
const expect = Effect.fnUntraced(function* (tenantId: TenantId, wanted: "active" | "suspended") {
  const { status } = yield* (yield* Accounts).overview(tenantId)
  if (status !== wanted) return yield* ApiError.of("conflict", `the tenant is ${status}`)
})

const endCalls = Effect.fnUntraced(function* (id: TenantId) {
  return EndedCalls.view(yield* (yield* Calls).endAll(id, "tenant_suspended"))
})

const doneUnseen = ApiError.of(
  "internal_error",
  "it is done, but the tenant cannot be shown at the moment; do not repeat it"
)

/**
 * Changes the tenant, then shows it. When only the showing fails, the error says that the change is done, because a
 * repeated credit would count twice.
 */
const change =
  <E, R, Input extends { readonly tenant: string }>(
    apply: (tenantId: TenantId, input: Input) => Effect.Effect<unknown, E, R>
  ) =>
  (input: Input) =>
    Effect.gen(function* () {
      const id = yield* TenantReference.idOf(input.tenant)
      yield* apply(id, input)
      return yield* Effect.catchCause(show(id), (cause) =>
        Effect.andThen(Effect.logWarning("a tenant that was changed cannot be shown", cause), Effect.fail(doneUnseen))
      )
    })

const tenant = TenantReference.argument

export const credit = Command.make("tenant credit", {
  summary: "gives (or with a negative number takes) money: a ledger entry of type adjustment",
  input: {
    tenant,
    cents: Flag.of(Schema.Int, "how much; a negative number takes money"),
    reason: Flag.of(Flag.text(200), "the description of the ledger entry"),
    as: Flag.optional(
      Schema.Literals(["payment", "correction"]),
      "what it is on the invoice: money that came in or went out (as without it), or a correction of charges"
    ),
    idempotencyKey: Flag.idempotencyKey
  },
  run: change(
    Effect.fnUntraced(function* (id, { as: kind, cents, idempotencyKey, reason }) {
      yield* (yield* Billing).adjust(id, cents, reason, kind, idempotencyKey)
      yield* (yield* Accounts).moneyMoved(id)
    })
  )
})

/** guide/operation.md#tenants-and-money. */
export const commands = [
  Command.make("tenant list", {
    summary: "lists the newest 1,000 tenants",
    columns: "id slug status suspension_reason created_at name",
    run: Effect.fnUntraced(function* () {
      return { results: yield* (yield* Tenants).list({ limit: listLimit, offset: 0 }) }
    })
  }),
  Command.make("tenant show", {
    summary: "shows status, balance, quota and what is going on",
    input: { tenant },
    run: ({ tenant }) => show(tenant)
  }),
  credit,
  Command.make("tenant quota", {
    summary:
      "sets spend caps (cents; none: no cap), concurrent calls, webhook subscriptions, caller-id forwarding, credit limit (cents)",
    input: {
      tenant,
      dailySpendCapCents: Flag.optional(Cap, "the most that it may spend a day, in cents", { flag: "daily" }),
      monthlySpendCapCents: Flag.optional(Cap, "the most that it may spend a month, in cents", { flag: "monthly" }),
      concurrentCallLimit: Flag.optional(limits.concurrentCallLimit, "calls at once", { flag: "concurrent" }),
      webhookSubscriptionLimit: Flag.optional(limits.webhookSubscriptionLimit, "webhook subscriptions", {
        flag: "subscriptions"
      }),
      allowCallerIdForwarding: Flag.optional(limits.allowCallerIdForwarding, "whether callers' ids may be forwarded", {
        flag: "forwarding",
        words: Flag.onOff
      }),
      creditLimitCents: Flag.optional(
        Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
        "how far its balance may go below zero, in cents",
        { flag: "credit-limit" }
      )
    },
    run: change(
      Effect.fnUntraced(function* (id, input) {
        const { creditLimitCents } = input
        const accounts = yield* Accounts
        const quota = Struct.omit(input, ["tenant", "creditLimitCents"])
        if (Object.keys(quota).length > 0) yield* accounts.setQuota(id, quota, yield* operator)
        if (creditLimitCents === undefined) return
        yield* (yield* Billing).setCreditLimit(id, creditLimitCents)
        yield* accounts.moneyMoved(id)
      })
    )
  }),
  Command.make(
    "tenant suspend",
    {
      summary: "refuses new requests and calls; running calls finish, or end with --end-calls",
      input: {
        tenant,
        reason: Flag.optional(Schema.Literals(["operator", "fraud_review"]), "why; the tenant sees it"),
        endCalls: Flag.on("ends the live calls, too")
      },
      run: Effect.fnUntraced(function* ({ endCalls: endsCalls, reason, tenant }) {
        const id = yield* TenantReference.idOf(tenant)
        const accounts = yield* Accounts
        // A review of fraud stays one when the command is repeated to end the calls.
        const { suspensionReason } = yield* accounts.overview(id)
        const because = reason ?? (suspensionReason === "fraud_review" ? suspensionReason : "operator")
        yield* Effect.andThen(accounts.suspend(id, because, yield* operator), expect(id, "suspended"))
        return { ...(yield* show(id)), ...(endsCalls ? yield* endCalls(id) : {}) }
      })
    },
    { isSound: (answer) => EndedCalls.areOver(answer) }
  ),
  Command.make("tenant reactivate", {
    summary: "lifts a suspension, whatever its reason",
    input: { tenant },
    run: change(
      Effect.fnUntraced(function* (id) {
        yield* (yield* Accounts).reactivate(id, null, yield* operator)
        yield* expect(id, "active")
      })
    )
  }),
  // Live calls of a suspended tenant continue, unless the operator ends them. Those of a closed tenant are ended here,
  // because nothing else could end them.
  Command.make(
    "tenant close",
    {
      summary: "closes for good, ends the live calls, and erases recordings and transcripts after 30 days (0: at once)",
      input: {
        tenant,
        eraseAfterDays: Flag.optional(Flag.between(0, 3650), "when recordings and transcripts are erased", {
          flag: "erase-after",
          value: "DAYS"
        }),
        refund: Flag.on("refunds what is left of its balance to its cards")
      },
      run: Effect.fnUntraced(function* ({ eraseAfterDays = null, refund, tenant }) {
        const id = yield* TenantReference.idOf(tenant)
        const closings = yield* Closings
        yield* (yield* Accounts).close(id, yield* operator)
        yield* closings.eraseAfter(id, eraseAfterDays)
        const ended = yield* endCalls(id)
        if (refund) yield* closings.refund(id)
        return { ...(yield* show(id)), ...ended }
      })
    },
    { isSound: (answer) => EndedCalls.areOver(answer) }
  ),
  Command.make(
    "tenant payout",
    {
      summary:
        "refunds what is left of a closed tenant's balance to its cards, the newest top-up first, and shows what became of it",
      input: { tenant },
      run: change((id) => Closings.use((closings) => closings.refund(id)))
    },
    { isSound: (answer) => PayoutView.isSound(answer) }
  ),
  Command.lines("tenant export", {
    summary:
      "writes all that a tenant has, as it is at this moment, into a new file of JSON lines (gzip), without secrets",
    input: { tenant },
    alone: "an export is under way",
    run: TenantReference.within(
      Effect.fnUntraced(function* (tenantId) {
        const exported = { tenantId, action: "tenant.exported", resourceType: "tenant", resourceId: tenantId }
        yield* (yield* Journal).commitAsked(yield* OperatorAudit.line(exported))
        return TenantExport.lines(tenantId, yield* Clock.currentTimeMillis, (yield* Recordings).link)
      })
    )
  })
]
