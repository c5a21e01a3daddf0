import { Effect, Schema } from "effect"
import * as Id from "../../../domain/Id.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { type Attempt, Funding, type RefundRow } from "../../../money/funding/Funding.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"

const attemptOf = (attempt: Attempt) => ({
  id: attempt.id,
  kind: attempt.kind,
  amount_cents: attempt.amountCents,
  status: attempt.status,
  failure_code: attempt.failureCode,
  failure_message: attempt.failureMessage,
  payment_method_id: attempt.paymentMethodId,
  processor: attempt.processor,
  intent_id: attempt.intentId,
  created_at: Timestamp.format(attempt.createdAt),
  settled_at: Timestamp.formatOrNull(attempt.settledAt)
})

const refundOf = (refund: RefundRow) => ({
  id: refund.id,
  attempt_id: refund.attemptId,
  amount_cents: refund.amountCents,
  status: refund.status,
  refund_id: refund.refundId,
  failure: refund.failure
})

/** `payment list`, `refund`, `reconcile`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const funding = yield* Funding
  return [
    Operation.make(
      "payment/list",
      Schema.Struct({ tenant: Operation.TenantRef, limit: Schema.optionalKey(Operation.PageLimit) }),
      Effect.fnUntraced(function* ({ limit = 50, tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        return { results: (yield* funding.attempts(id, limit)).map(attemptOf) }
      })
    ),
    Operation.make(
      "payment/refund",
      Schema.Struct({
        attempt: Id.spelled("ledger"),
        cents: Schema.optionalKey(Operation.Cents),
        reason: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)))
      }),
      ({ attempt, cents = null, reason = null }) => Effect.map(funding.refund(attempt, cents, reason), refundOf)
    ),
    Operation.make(
      "payment/reconcile",
      Schema.Struct({ tenant: Schema.optionalKey(Operation.TenantRef), since: Schema.optionalKey(Operation.Moment) }),
      Effect.fnUntraced(function* ({ since, tenant }) {
        const tenantId = tenant === undefined ? null : (yield* tenants.findByReference(tenant)).id
        return yield* funding.reconcile(tenantId, since)
      })
    )
  ]
})
