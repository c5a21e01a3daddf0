import { Context } from "effect"
import type { Slot } from "../../../runtime/idempotency/Slot.ts"

/**
 * The idempotency slot of this request's Idempotency-Key; handlers pass it to their door. `null` for a request without
 * a key.
 */
export class CurrentSlot extends Context.Service<CurrentSlot, { readonly slot: Slot | null }>()(
  "trunkline/http/CurrentSlot"
) {}
