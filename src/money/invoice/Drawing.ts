import { Context, type Effect, Schema } from "effect"
import type { InvoiceRow } from "./InvoiceView.ts"

/** It could not be drawn now: too many wait, or the thread that drew it died. */
export class NotDrawn extends Schema.TaggedError<NotDrawn>()("NotDrawn", { detail: Schema.String }) {}

/** Draws an invoice as a PDF: the same bytes for the same invoice. */
export class Drawing extends Context.Service<
  Drawing,
  { readonly draw: (invoice: InvoiceRow) => Effect.Effect<Uint8Array, NotDrawn> }
>()("trunkline/invoice/Drawing") {}
