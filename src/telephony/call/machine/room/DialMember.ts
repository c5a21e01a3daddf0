import type { Effect } from "effect"
import type { ApiError } from "../../../../domain/ApiError.ts"
import type { Entry, Settings } from "../../../../ports/media/MemberChange.ts"
import type { CallId, ConferenceId, LegId, MemberId, RouteId } from "../../../../domain/Id.ts"

/** A call that is about to be dialled for a membership. */
export interface Dialled {
  readonly callId: CallId
  readonly legId: LegId
  readonly routeId: RouteId
}

/** The membership in a conference that a call is dialled for. */
export interface DialMember {
  readonly conferenceId: ConferenceId
  readonly memberId: MemberId
  /** The carrier of the room, and the room's leg in the media plane. */
  readonly adapter: string
  readonly near: LegId
  /**
   * Makes the conference commit the membership, when all that the call needs is reserved. When it fails, all is given
   * back and nothing is dialled. Afterwards the conference gets messages of the call: `refused` if it was never
   * created.
   */
  readonly claim: (dialled: Dialled) => Effect.Effect<void, ApiError>
  /** The flags and settings with which its leg enters; asked after the claim. */
  readonly enters: () => Pick<Entry, "isMuted" | "isHeld" | keyof Settings>
  /** Renders the body of the response, JSON, after the claim. */
  readonly render: (dialled: Dialled) => string
}
