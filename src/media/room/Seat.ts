import type { MemberId } from "../../domain/Id.ts"

/**
 * What a member hears and who hears it. `none`: like everybody. `monitor`: it hears all, and nobody hears it. `whisper`:
 * it hears all, and only its targets hear it. `barge`: it hears all, and all hear it.
 */
export type Role = "none" | "monitor" | "whisper" | "barge"

/** With what a leg comes into a room. */
export interface Seat {
  /** No other member has it, nor had it. */
  readonly memberId: MemberId
  /** What the host says has a channel of its own in recordings. */
  readonly isHost: boolean
  /** Nobody hears it, whatever its role. */
  readonly isMuted: boolean
  /** It neither hears nor is heard. */
  readonly isHeld: boolean
}

/** What may change about a member. */
export type SeatChange =
  | { readonly type: "muted"; readonly isMuted: boolean }
  /** On hold it hears the sound at `audioUrl`, again and again, or silence. */
  | { readonly type: "held"; readonly isHeld: boolean; readonly audioUrl: string | null }
  /** `targets` are those who hear a whisper, while they are there and not on hold. */
  | { readonly type: "role"; readonly role: Role; readonly targets: ReadonlyArray<MemberId> }
