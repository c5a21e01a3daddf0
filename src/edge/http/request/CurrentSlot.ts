import { Context } from "effect"
import type { Slot } from "../../../runtime/idempotency/Slot.ts"

/** The idempotency slot of this request, which handlers pass to their door. `null` without an Idempotency-Key. */
export class CurrentSlot extends Context.Service<CurrentSlot, { readonly slot: Slot | null }>()(
  "trunkline/http/CurrentSlot"
) {}
