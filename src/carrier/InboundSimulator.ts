import { Context, type Effect } from "effect"
import type { Admission } from "./Carrier.ts"

/** Simulated phones that call us on the operator's demand (`simulate-inbound`). */
export class InboundSimulator extends Context.Service<
  InboundSimulator,
  {
    /** A simulated phone dials `to`. Completes when the call is committed or refused; the phone then acts alone. */
    readonly simulateInbound: (call: { readonly from: string; readonly to: string }) => Effect.Effect<Admission>
  }
>()("trunkline/carrier/InboundSimulator") {}
