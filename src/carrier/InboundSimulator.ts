import { Context, type Effect } from "effect"
import type { Admission } from "./Carrier.ts"

/** The acts of a calling phone once it is answered, one after the other, a second apart. */
export interface CallerActs {
  /** The sound that it says; null: it says nothing. */
  readonly speech: { readonly rate: number; readonly samples: Int16Array } | null
  /** The digits that it presses, one every 200 ms; `w` waits half a second, `W` a second. */
  readonly digits: string
  /** When it hangs up, after the answer, in milliseconds; null: after a minute. */
  readonly hangUpAfterMs: number | null
}

/** Simulated phones that call us on the operator's demand (`simulate-inbound`). */
export class InboundSimulator extends Context.Service<
  InboundSimulator,
  {
    /**
     * A simulated phone dials `to`. Without `acts` it echoes for a minute. Completes when the call is committed or
     * refused; the phone then acts alone.
     */
    readonly simulateInbound: (call: {
      readonly from: string
      readonly to: string
      readonly acts?: CallerActs
    }) => Effect.Effect<Admission>
  }
>()("trunkline/carrier/InboundSimulator") {}
