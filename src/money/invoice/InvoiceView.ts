import { Schema } from "effect"
import { entryTypes } from "../../domain/EntryType.ts"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"

export const statuses = ["draft", "open", "paid", "void", "uncollectible"] as const
export type Status = (typeof statuses)[number]

const line = {
  description: Field.text("In words.", "Calls"),
  type: Field.oneOf("The type of its ledger entries.", entryTypes),
  quantity: Field.count("Ledger entries.", 120),
  unitCostCents: Field.centsOrNull("Of each; null where they differ.", null),
  amountCents: Field.signedCents("The sum; negative: given back.", 340)
}
const Line = Wire.struct(line)

/** The seller or the buyer. */
export const Party = Wire.struct({
  name: Field.text("Legal name.", "Acme GmbH"),
  address: Field.texts("Lines of the address.", ["Main Street 1", "10115 Berlin", "Germany"]),
  taxId: Field.textOrNull("VAT or other tax number.", "DE123456789"),
  email: Field.textOrNull("Where questions go.", "billing@example.com")
})
export type Party = typeof Party.Type

/** An invoice, guide/money.md#invoices. */
export const Invoice = Wire.struct({
  id: Field.id("inv", "The invoice."),
  number: Field.text("Counted without gaps, over all workspaces.", "INV-00000042"),
  status: Field.oneOf("`paid` at once when the prepaid balance covered it; `open` until payments do.", statuses),
  periodStart: Field.time("First moment of the month, UTC."),
  periodEnd: Field.time("First moment behind it.", "2026-02-01T00:00:00.000Z"),
  openingBalanceCents: Field.signedCents("The balance before."),
  credits: Schema.Array(Line).annotate({ description: "What came in, and what went back to a card." }),
  lines: Schema.Array(Line).annotate({ description: "What was used." }),
  subtotalCents: Field.signedCents("The sum of `lines`.", 340),
  taxCents: Field.signedCents("Tax; the service adds none.", 0),
  totalCents: Field.signedCents("Subtotal and tax.", 340),
  amountPaidCents: Field.signedCents("What the balance and later payments covered.", 340),
  amountDueCents: Field.cents("What they did not; 0 when it is void."),
  closingBalanceCents: Field.signedCents("Opening balance and credits, less the total.", 160),
  currency: Schema.Literal("USD").annotate({ description: "Of every amount." }),
  seller: Party.pipe(Schema.annotateEncoded({ description: "Who issued it." })),
  buyer: Party.pipe(Schema.annotateEncoded({ description: "To whom." })),
  pdfUrl: Field.text("The PDF; the link holds for 10 minutes.", "https://example.com/invoices/…"),
  issuedAt: Field.time("When it was issued.", "2026-02-01T01:00:00.000Z"),
  paidAt: Field.timeOrNull("When it was paid; null: it is not.", "2026-02-01T01:00:00.000Z"),
  createdAt: Field.time("As `issued_at`.", "2026-02-01T01:00:00.000Z")
}).pipe(Schema.annotateEncoded({ identifier: "Invoice" }))
export type InvoiceView = typeof Invoice.Encoded
/** Everything except the link, which is made when the invoice is shown. */
export type InvoiceRow = Omit<typeof Invoice.Type, "pdfUrl" | "currency" | "createdAt">

const encode = Wire.encoder(Invoice)
export const view = (row: InvoiceRow, pdfUrl: string): InvoiceView =>
  encode({ ...row, pdfUrl, currency: "USD", createdAt: row.issuedAt })

export const numberOf = (number: number): string => `INV-${String(number).padStart(8, "0")}`
