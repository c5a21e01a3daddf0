import { Effect } from "effect"
import type {
  Authority,
  Carrier,
  CarrierAdapter,
  CarrierCommand,
  CarrierEvent,
  LegReport
} from "../../../src/carrier/Carrier.ts"
import type { LegId } from "../../../src/domain/Id.ts"

export const authority: Authority = { partition: 0, epoch: 1 }

export const order = (command: CarrierCommand) => ({ authority, command })

/** An adapter without legs that only takes commands. */
export const adapter = (
  interpret: (command: CarrierCommand) => Effect.Effect<void>,
  incarnation = "test"
): CarrierAdapter => ({
  incarnation,
  interpret: ({ command }) => interpret(command),
  snapshot: () => Effect.succeed({ incarnation, legs: {} }),
  caughtUp: () => Effect.void
})

/** Events with the numbers that a carrier gives them, counted for each leg. */
export const numbered = (incarnation = "test") => {
  const last = new Map<string, number>()
  return (legId: LegId, at: number, report: LegReport): CarrierEvent => {
    const n = (last.get(legId) ?? 0) + 1
    last.set(legId, n)
    return { legId, at, incarnation, n, ...report }
  }
}

/** Reads one leg in the snapshot of an adapter. */
export const presence = (carrier: Carrier["Service"], adapterName: string, legId: LegId) =>
  Effect.map(carrier.snapshot(adapterName, authority, [legId]), (snapshot) => {
    if (snapshot === null) return "unknown"
    const facts = snapshot.legs[legId]
    return facts === undefined || facts.state === "over" ? "gone" : "alive"
  })
