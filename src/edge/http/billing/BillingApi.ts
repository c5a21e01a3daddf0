import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Balance, LedgerEntry } from "../../../money/billing/Billing.ts"
import { Subscription, View as Plan } from "../../../money/plan/Plan.ts"
import { View as Proof } from "../../../money/proof/Proof.ts"
import { entryTypes } from "../../../domain/EntryType.ts"
import { statuses, View as Invoice } from "../../../money/invoice/Invoice.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import { body, of, only } from "../../../domain/schema/RequestField.ts"

/** The prepaid money, guide/money.md. All of these endpoints also serve a suspended tenant, which has to pay. */

const { get, list, put } = endpoints({ reads: "billing:read", writes: "billing:write", servesSuspended: true })

const filters = {
  type: only(Schema.Literals(entryTypes), "Only entries of this type."),
  createdAfterMs: Schema.optionalKey(Query.timestamp("Only entries booked after this moment.")),
  createdBeforeMs: Schema.optionalKey(Query.timestamp("Only entries booked before this moment."))
}
const filterNames = { createdAfterMs: "created_after", createdBeforeMs: "created_before" } as const

export class BillingApi extends HttpApiGroup.make("billing")
  .add(
    get("balance", "/v1/billing/balance", "Retrieve the balance", { success: Balance }),
    list("ledger", "/v1/billing/ledger", "List ledger entries", LedgerEntry, {
      filters,
      names: filterNames,
      scope: "usage:read",
      description: "Newest first."
    }),
    get("ledgerFile", "/v1/billing/ledger.csv", "Export ledger entries as CSV", {
      query: Wire.struct(filters, filterNames),
      success: Schema.String.annotate({
        description: "A header, then a record for each entry with the fields of `LedgerEntry`."
      }).pipe(HttpApiSchema.asText({ contentType: "text/csv" })),
      scope: "usage:read",
      description: "All that the filters leave, the oldest first, in one file."
    }),
    get("proof", "/v1/billing/proof", "Prove that the money adds up", {
      success: Proof,
      description: "The ledger against the balance and against the calls, and the seals over what was booked."
    }),
    list("invoices", "/v1/billing/invoices", "List invoices", Invoice, {
      filters: {
        status: only(Schema.Literals(statuses), "Only with this status."),
        periodStartAfterMs: Schema.optionalKey(Query.timestamp("Only of months that began after this moment."))
      },
      names: { periodStartAfterMs: "period_start_after" },
      description: "Newest first."
    }),
    get("invoice", "/v1/billing/invoices/:id", "Retrieve an invoice", {
      params: { id: PathId.prefixed("inv").annotate({ description: "The invoice." }) },
      success: Invoice,
      description: "With a fresh `pdf_url`."
    }),
    list("plans", "/v1/billing/plans", "List plans", Plan, { description: "The cheapest first." }),
    get("subscription", "/v1/billing/subscription", "Retrieve the plan subscription", { success: Subscription }),
    put("subscribe", "/v1/billing/subscription", "Choose a plan", {
      payload: body("ChoosePlan", {
        planSlug: of(
          Schema.NullOr(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(60))),
          "The plan; null: none behind this period.",
          "starter"
        )
      }),
      success: Subscription,
      description:
        "The first one begins at once, and its fee is debited; another one takes its place with the next period.",
      errors: ["subscription_invalid", "insufficient_balance", "conflict", "tenant_suspended"]
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Billing", description: "Balance and ledger." })) {}
