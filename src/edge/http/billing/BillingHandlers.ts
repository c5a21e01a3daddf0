import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Billing } from "../../../money/billing/Billing.ts"
import { Funding } from "../../../money/funding/Funding.ts"
import { Invoices } from "../../../money/invoice/Invoice.ts"
import { Plans } from "../../../money/plan/Plan.ts"
import { Proofs } from "../../../money/proof/Proof.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as CsvAnswer from "../answer/CsvAnswer.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as Pagination from "../answer/Pagination.ts"

const columns = [
  "id",
  "created_at",
  "type",
  "amount_cents",
  "balance_after_cents",
  "description",
  "reference_type",
  "reference_id"
] as const

export const layer = HttpApiBuilder.group(
  Api,
  "billing",
  Effect.fnUntraced(function* (handlers) {
    const billing = yield* Billing
    const proofs = yield* Proofs
    const invoices = yield* Invoices
    const plans = yield* Plans
    const funding = yield* Funding
    return handlers.handleAll({
      balance: Effect.fnUntraced(function* () {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* billing.balance(tenantId))
      }),
      ledger: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/billing/ledger", query, (window, filters) =>
          billing.ledger(tenantId, filters, window)
        )
      }),
      ledgerFile: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return CsvAnswer.make("ledger.csv", columns, yield* billing.wholeLedger(tenantId, query))
      }),
      invoices: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/billing/invoices", query, (window, filters) =>
          invoices.list(tenantId, filters, window)
        )
      }),
      invoice: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* invoices.find(tenantId, params.id))
      }),
      plans: Effect.fnUntraced(function* ({ query }) {
        const all = yield* plans.list(true)
        return yield* Pagination.answer("/v1/billing/plans", query, ({ limit, offset }) =>
          Effect.succeed({ count: all.length, next: null, results: all.slice(offset, offset + limit) })
        )
      }),
      subscription: Effect.fnUntraced(function* () {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* plans.subscription(tenantId))
      }),
      subscribe: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(plans.subscribe(yield* CurrentKey, payload.planSlug, slot))
      }),
      proof: Effect.fnUntraced(function* () {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* proofs.proof(tenantId, yield* funding.reconciled(tenantId)))
      })
    })
  })
)
