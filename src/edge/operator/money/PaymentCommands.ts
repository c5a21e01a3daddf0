import { Effect, Schema } from "effect"
import * as Id from "../../../domain/Id.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { type Attempt, Funding, type RefundRow } from "../../../money/funding/Funding.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as TextTable from "../command/TextTable.ts"
import * as TenantReference from "../tenant/TenantReference.ts"

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

const exceptionsOf = Command.table("tenant_id attempt_id intent_id processor_cents ledger_cents")

/** guide/money.md#reconciliation. */
export const commands = [
  Command.make("payment list", {
    summary: "lists the attempts to charge a tenant's cards, the newest first",
    input: { tenant: TenantReference.required, limit: Flag.limit(50) },
    columns: "created_at kind amount_cents status failure_code processor intent_id settled_at id",
    run: Effect.fnUntraced(function* ({ limit, tenant }) {
      const attempts = yield* (yield* Funding).attempts(yield* TenantReference.idOf(tenant), limit)
      return { results: attempts.map(attemptOf) }
    })
  }),
  Command.make(
    "payment refund",
    {
      summary: "refunds a top-up to its card, in part or what is left of it; the balance may go below zero",
      input: {
        attempt: Flag.argument("svc_ledger_…", Id.spelled("ledger"), "the ledger entry of the top-up"),
        cents: Flag.optional(Schema.Int, "how much; all that is left unless given"),
        reason: Flag.reason
      },
      run: Effect.fnUntraced(function* ({ attempt, cents = null, reason = null }) {
        return refundOf(yield* (yield* Funding).refund(attempt, cents, reason))
      })
    },
    { isSound: ({ status }) => status !== "failed" }
  ),
  Command.make(
    "payment reconcile",
    {
      summary: "asks the card processor what has moved, books what the ledger lacks, and shows what differs",
      input: { tenant: TenantReference.optional, since: Flag.optionalTime("only what has moved since then") },
      run: Effect.fnUntraced(function* ({ since, tenant }) {
        return yield* (yield* Funding).reconcile(yield* TenantReference.idOrNull(tenant), since)
      })
    },
    {
      print: ({ exceptions, ...sums }) =>
        TextTable.fields(sums) + (exceptions.length === 0 ? "" : `\n\n${exceptionsOf({ results: exceptions })}`),
      isSound: ({ exceptions }) => exceptions.length === 0
    }
  )
]
