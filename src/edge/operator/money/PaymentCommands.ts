import { Effect, Schema } from "effect"
import * as Id from "../../../domain/Id.ts"
import { type Attempt, Funding, type RefundRow } from "../../../money/funding/Funding.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Shown from "../command/Shown.ts"
import * as TextTable from "../command/TextTable.ts"
import * as TenantReference from "../tenant/TenantReference.ts"

const attemptOf = (attempt: Attempt) =>
  Shown.of(
    attempt,
    "id kind amountCents status failureCode failureMessage paymentMethodId processor intentId createdAt settledAt"
  )

const refundOf = (refund: RefundRow) => Shown.of(refund, "id attemptId amountCents status refundId failure createdAt")

const exceptionsOf = Command.table("tenant_id attempt_id intent_id processor_cents currency ledger_cents")

/** guide/money.md#reconciliation. */
export const commands = [
  Command.make("payment list", {
    summary: "lists the attempts to charge a tenant's cards, the newest first",
    input: { tenant: TenantReference.required, limit: Flag.limit(50) },
    columns: "created_at kind amount_cents status failure_code processor intent_id settled_at id",
    run: TenantReference.within((id, { limit }) =>
      Effect.map(
        Funding.use((funding) => funding.attempts(id, limit)),
        (attempts) => ({ results: attempts.map(attemptOf) })
      )
    )
  }),
  Command.make(
    "payment refund",
    {
      summary: "refunds a top-up to its card, in part or what is left of it; the balance may go below zero",
      input: {
        attempt: Flag.argument("svc_ledger_…", Id.spelled("ledger"), "the ledger entry of the top-up"),
        cents: Flag.optional(Schema.Int, "how much; all that is left unless given"),
        reason: Flag.reason,
        idempotencyKey: Flag.idempotencyKey
      },
      run: Effect.fnUntraced(function* ({ attempt, cents = null, idempotencyKey = null, reason = null }) {
        return refundOf(yield* (yield* Funding).refund(attempt, cents, reason, idempotencyKey))
      })
    },
    { isSound: ({ status }) => status !== "failed" }
  ),
  Command.make("payment refunds", {
    summary: "lists the refunds of a tenant's top-ups that were requested here, the newest first",
    input: { tenant: TenantReference.required, limit: Flag.limit(50) },
    columns: "created_at amount_cents status failure refund_id attempt_id id",
    run: TenantReference.within((id, { limit }) =>
      Effect.map(
        Funding.use((funding) => funding.refunds(id, limit)),
        (refunds) => ({ results: refunds.map(refundOf) })
      )
    )
  }),
  Command.make("payment settle-refund", {
    summary:
      "settles a pending refund whose outcome the processor will not report; its later report is booked right in any case",
    input: {
      refund: Flag.argument("REFUND", Flag.text(100), "its id, from payment refunds"),
      outcome: Flag.of(Schema.Literals(["made", "not_made"]), "whether this refund was made at the processor"),
      reason: Flag.of(Flag.text(200), "why, for the audit log")
    },
    run: Effect.fnUntraced(function* ({ outcome, reason, refund }) {
      return refundOf(yield* (yield* Funding).settleRefund(refund, outcome, reason))
    })
  }),
  Command.make("payment abandon", {
    summary:
      "fails a pending top-up whose outcome the processor will not report; it is credited if it was paid after all",
    input: {
      attempt: Flag.argument("svc_ledger_…", Id.spelled("ledger"), "the ledger entry of the top-up"),
      reason: Flag.reason
    },
    run: Effect.fnUntraced(function* ({ attempt, reason = null }) {
      return attemptOf(yield* (yield* Funding).abandon(attempt, reason))
    })
  }),
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
