import type { LocalLeg } from "./LocalLeg.ts"

/**
 * What connects legs: two that are bridged, a room.
 *
 * It reads its members, each once in every round of 20 ms (`LocalLeg.read`), and is a source in the mix of each of them;
 * the legs themselves go on to send in their own slots. Whether it reads them when the others ask for their sound or in a
 * slot of its own (`Slots`) is its own matter.
 */
export interface Junction {
  /** The far end of a member pressed a digit. */
  readonly digit: (from: LocalLeg, digit: string) => void
  /** A member is closed. It reads itself from now on. */
  readonly leave: (leg: LocalLeg, now: number) => void
}
