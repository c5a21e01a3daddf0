import type { Player } from "./Player.ts"
import type { Source } from "./Source.ts"

/**
 * The membership of a leg in a junction. A junction connects legs: two that are bridged, a room.
 *
 * It reads its members, each once in every round of 20 ms (`LocalLeg.read`), and is a source in the mix of each of
 * them; the legs themselves go on to send in their own slots. Whether it reads them when the others ask for their sound
 * or in a slot of its own (`Slots`) is its own matter.
 */
export interface Membership {
  /** The sound of the others, for the member. */
  readonly source: Source
  /** Its far end pressed a digit; `isTone`: the others hear it in its sound. */
  readonly digit: (digit: string, isTone: boolean, at: number) => void
  /** Its far end pressed a digit whose packets go to another far end as they come (`forward`). */
  readonly passedDigit?: (digit: string, at: number) => void
  /**
   * Called in each round before the member is sent its frame. True: packets of another far end go to its far end as they
   * come, and it is sent no frames.
   */
  readonly forward?: (now: number) => boolean
  /** What the others hear can be played to them. */
  readonly others: ReadonlyArray<Player>
  /** It is recorded: the others hear the warning tone too (`LocalLeg.beep`). */
  readonly beep: () => void
  /** It is closed. The junction lets it go before this returns (`LocalLeg.leave`). */
  readonly leave: (now: number) => void
}
