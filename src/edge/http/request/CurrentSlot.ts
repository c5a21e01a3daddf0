import { Context } from "effect"
import type { Slot } from "../../../runtime/idempotency/Slot.ts"

/** The place that this request's Idempotency-Key took; handlers pass it to their door. `null`: a request without a key. */
export class CurrentSlot extends Context.Service<CurrentSlot, { readonly slot: Slot | null }>()(
  "trunkline/http/CurrentSlot"
) {}
