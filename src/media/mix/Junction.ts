import type { Player } from "./Player.ts"
import type { Source } from "./Source.ts"

/**
 * The membership of a leg in a junction, which connects legs: two that are bridged, or a room.
 *
 * A junction reads each member once in every round of 20 ms (`LocalLeg.read`), and is a source in the mix of each; the
 * legs still send in their own slots. Each kind of junction decides whether it reads its members when the others need
 * their sound or in a slot of its own (`Slots`).
 */
export interface Membership {
  /** The sound of the others, for the member. */
  readonly source: Source
  /** The member's far end pressed a digit; `isTone`: the others hear it in its sound. */
  readonly digit: (digit: string, isTone: boolean, at: number) => void
  /** The member's far end pressed a digit, and its packets are forwarded to another far end (`forward`). */
  readonly passedDigit?: (digit: string, at: number) => void
  /**
   * Called in each round before the member is sent its frame. True: packets of another far end are forwarded to its far
   * end, and it is sent no frames.
   */
  readonly forward?: (now: number) => boolean
  /** The players of the other members. */
  readonly others: ReadonlyArray<Player>
  /** The member is recorded: the others hear the warning tone too (`LocalLeg.beep`). */
  readonly beep: () => void
  /** The member is closed. The junction releases it before this returns (`LocalLeg.leave`). */
  readonly leave: (now: number) => void
}
