import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Balance, LedgerEntry } from "../../../money/billing/Billing.ts"
import { Subscription, View as Plan } from "../../../money/plan/Plan.ts"
import { View as Proof } from "../../../money/proof/Proof.ts"
import { entryTypes } from "../../../domain/EntryType.ts"
import { statuses, View as Invoice } from "../../../money/invoice/Invoice.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"

/** The prepaid money, guide/money.md. All of these endpoints also serve a suspended tenant, which has to pay. */

const balance = HttpApiEndpoint.get("balance", "/v1/billing/balance", { success: Balance }).annotateMerge(
  about({ summary: "Retrieve the balance", scope: "billing:read", servesSuspended: true })
)

const filters = {
  type: Schema.optionalKey(Schema.Literals(entryTypes).annotate({ description: "Only entries of this type." })),
  createdAfterMs: Schema.optionalKey(Query.timestamp("Only entries booked after this moment.")),
  createdBeforeMs: Schema.optionalKey(Query.timestamp("Only entries booked before this moment."))
}
const filterNames = { createdAfterMs: "created_after", createdBeforeMs: "created_before" } as const

const ledger = HttpApiEndpoint.get("ledger", "/v1/billing/ledger", {
  query: Wire.struct({ ...filters, ...Pagination.parameters }, filterNames),
  success: Pagination.envelope(LedgerEntry)
}).annotateMerge(
  about({
    summary: "List ledger entries",
    description: "Newest first.",
    scope: "usage:read",
    servesSuspended: true
  })
)

const ledgerFile = HttpApiEndpoint.get("ledgerFile", "/v1/billing/ledger.csv", {
  query: Wire.struct(filters, filterNames),
  success: Schema.String.annotate({
    description: "A header, then a record for each entry with the fields of `LedgerEntry`."
  }).pipe(HttpApiSchema.asText({ contentType: "text/csv" }))
}).annotateMerge(
  about({
    summary: "Export ledger entries as CSV",
    description: "All that the filters leave, the oldest first, in one file.",
    scope: "usage:read",
    servesSuspended: true
  })
)

const invoices = HttpApiEndpoint.get("invoices", "/v1/billing/invoices", {
  query: Wire.struct(
    {
      status: Schema.optionalKey(Schema.Literals(statuses).annotate({ description: "Only with this status." })),
      periodStartAfterMs: Schema.optionalKey(Query.timestamp("Only of months that began after this moment.")),
      ...Pagination.parameters
    },
    { periodStartAfterMs: "period_start_after" }
  ),
  success: Pagination.envelope(Invoice)
}).annotateMerge(
  about({ summary: "List invoices", description: "Newest first.", scope: "billing:read", servesSuspended: true })
)

const invoice = HttpApiEndpoint.get("invoice", "/v1/billing/invoices/:id", {
  params: { id: PathId.prefixed("inv").annotate({ description: "The invoice." }) },
  success: Invoice
}).annotateMerge(
  about({
    summary: "Retrieve an invoice",
    description: "With a fresh `pdf_url`.",
    scope: "billing:read",
    servesSuspended: true
  })
)

const plans = HttpApiEndpoint.get("plans", "/v1/billing/plans", {
  query: Pagination.query,
  success: Pagination.envelope(Plan)
}).annotateMerge(
  about({ summary: "List plans", description: "The cheapest first.", scope: "billing:read", servesSuspended: true })
)

const subscription = HttpApiEndpoint.get("subscription", "/v1/billing/subscription", {
  success: Subscription
}).annotateMerge(about({ summary: "Retrieve the plan subscription", scope: "billing:read", servesSuspended: true }))

const subscribe = HttpApiEndpoint.put("subscribe", "/v1/billing/subscription", {
  payload: Wire.struct({
    planSlug: Schema.NullOr(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(60))).annotate({
      description: "The plan; null: none behind this period.",
      examples: ["starter"]
    })
  }).pipe(Schema.annotateEncoded({ identifier: "ChoosePlan" })),
  success: Subscription
}).annotateMerge(
  about({
    summary: "Choose a plan",
    description:
      "The first one begins at once, and its fee is debited; another one takes its place with the next period.",
    scope: "billing:write",
    servesSuspended: true,
    errors: ["subscription_invalid", "insufficient_balance", "conflict", "tenant_suspended"]
  })
)

const proof = HttpApiEndpoint.get("proof", "/v1/billing/proof", { success: Proof }).annotateMerge(
  about({
    summary: "Prove that the money adds up",
    description: "The ledger against the balance and against the calls, and the seals over what was booked.",
    scope: "billing:read",
    servesSuspended: true
  })
)

export class BillingApi extends HttpApiGroup.make("billing")
  .add(balance, ledger, ledgerFile, proof, invoices, invoice, plans, subscription, subscribe)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Billing", description: "Balance and ledger." })) {}
