import type { Snapshot } from "../../../../carrier/Carrier.ts"
import type { CallState } from "../CallState.ts"
import type { Leg } from "./Leg.ts"

/**
 * What became of a leg, by what its carrier knows and not by which process died.
 *
 * - `alive`: the carrier that was heard last has it, has its end still to tell, or may not have got its dial yet. All
 *   that pends may be sent again, because that carrier drops what it took before.
 * - `found`: another life of the carrier has it, which knows nothing of our commands and of the numbers of its events.
 * - `gone`: the carrier does not know it.
 * - `unknown`: the carrier cannot be asked now.
 */
export type Presence = "alive" | "found" | "gone" | "unknown"

export const of = (state: CallState, leg: Leg, snapshot: Snapshot | null): Presence => {
  if (snapshot === null) return "unknown"
  const sameLife = leg.incarnation === snapshot.incarnation
  const facts = snapshot.legs[leg.id]
  if (facts === undefined)
    return sameLife && state.pending.some(({ legId, type }) => type === "dial" && legId === leg.id) ? "alive" : "gone"
  if (!sameLife) return "found"
  return facts.state === "over" && facts.n <= leg.heard ? "gone" : "alive"
}
