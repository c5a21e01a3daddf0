import { Effect, Schema } from "effect"
import { InboundSimulator } from "../../../carrier/InboundSimulator.ts"
import { E164 } from "../../../domain/E164.ts"
import * as Operation from "../door/Operation.ts"

/** `simulate-inbound`. */
export const make = Effect.map(InboundSimulator, (phones) => [
  Operation.make("simulate-inbound", Schema.Struct({ from: E164, to: E164 }), (call) =>
    Effect.map(phones.simulateInbound(call), (admission) =>
      admission.admitted ? { admitted: true, call_id: admission.callId } : { admitted: false, cause: admission.cause }
    )
  )
])
