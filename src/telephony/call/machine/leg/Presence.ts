import type { Snapshot } from "../../../../carrier/Carrier.ts"
import type { CallState } from "../CallState.ts"
import type { Leg } from "./Leg.ts"

/**
 * The state of a leg after an absence, decided by its carrier and not by which process died.
 *
 * - `alive`: the carrier incarnation that sent its last event has it, has yet to report its end, or may not have got
 *   its dial. All pending commands may be repeated, because that carrier drops those that it has taken.
 * - `found`: another incarnation of the carrier has it, which knows neither our commands nor the numbers of its events.
 * - `gone`: the carrier does not know it.
 * - `unknown`: the carrier cannot be asked now.
 */
type Presence = "alive" | "found" | "gone" | "unknown"

export const of = (state: CallState, leg: Leg, snapshot: Snapshot | null): Presence => {
  if (snapshot === null) return "unknown"
  const sameLife = leg.incarnation === snapshot.incarnation
  const facts = snapshot.legs[leg.id]
  if (facts === undefined)
    return sameLife && state.pending.some(({ legId, type }) => type === "dial" && legId === leg.id) ? "alive" : "gone"
  if (!sameLife) return "found"
  return facts.state === "over" && facts.n <= leg.heard ? "gone" : "alive"
}
