import type { MemberId } from "../../domain/Id.ts"

/**
 * Which members hear each other. `none`: like all others. `monitor`: it hears all, and none hears it. `whisper`: it
 * hears all, and only its targets hear it. `barge`: it hears all, and all hear it.
 */
export type Role = "none" | "monitor" | "whisper" | "barge"

/** The properties with which a leg joins a room. */
export interface Seat {
  /** Unique in the room, also among members that have left. */
  readonly memberId: MemberId
  /** The host has a channel of its own in recordings. */
  readonly isHost: boolean
  /** No member hears it, whatever its role. */
  readonly isMuted: boolean
  /** It neither hears nor is heard. */
  readonly isHeld: boolean
}

/** A change of a member. */
export type SeatChange =
  | { readonly type: "muted"; readonly isMuted: boolean }
  /** On hold it hears the sound at `audioUrl`, again and again, or silence. */
  | { readonly type: "held"; readonly isHeld: boolean; readonly audioUrl: string | null }
  /** `targets` are the members that hear a whisper while they are present and not on hold. */
  | { readonly type: "role"; readonly role: Role; readonly targets: ReadonlyArray<MemberId> }
