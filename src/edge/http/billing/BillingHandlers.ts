import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Billing } from "../../../money/billing/Billing.ts"
import { Funding } from "../../../money/funding/Funding.ts"
import { Invoices } from "../../../money/invoice/Invoice.ts"
import { Plans } from "../../../money/plan/Plan.ts"
import { Proofs } from "../../../money/proof/Proof.ts"
import { Api } from "../Api.ts"
import * as CsvAnswer from "../answer/CsvAnswer.ts"
import { answer, list, pageOf, read, write } from "../Handler.ts"

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
      balance: read((tenantId) => billing.balance(tenantId)),
      ledger: list((tenantId, window, filters) => billing.ledger(tenantId, filters, window)),
      ledgerFile: answer((tenantId, { query }) =>
        Effect.map(billing.wholeLedger(tenantId, query), (rows) => CsvAnswer.make("ledger.csv", columns, rows))
      ),
      invoices: list((tenantId, window, filters) => invoices.list(tenantId, filters, window)),
      invoice: read((tenantId, { params }) => invoices.find(tenantId, params.id)),
      plans: pageOf(() => plans.list(true)),
      subscription: read((tenantId) => plans.subscription(tenantId)),
      subscribe: write((caller, { payload }, slot) => plans.subscribe(caller, payload.planSlug, slot)),
      proof: read((tenantId) =>
        Effect.flatMap(funding.reconciled(tenantId), (reconciled) => proofs.proof(tenantId, reconciled))
      )
    })
  })
)
