import { Context, type Effect, Schema } from "effect"
import type { InvoiceRow } from "./InvoiceView.ts"

/** The invoice could not be drawn now: too many wait, or the thread that drew it died. */
export class NotDrawn extends Schema.TaggedError<NotDrawn>()("NotDrawn", { detail: Schema.String }) {}

/** Draws an invoice as a PDF. The same invoice gives the same bytes. */
export class Drawing extends Context.Service<
  Drawing,
  { readonly draw: (invoice: InvoiceRow) => Effect.Effect<Uint8Array, NotDrawn> }
>()("trunkline/invoice/Drawing") {}
