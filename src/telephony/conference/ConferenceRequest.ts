import type * as Audit from "../../runtime/audit/Audit.ts"
import type { PlaceRequest } from "../call/Call.ts"
import type * as Id from "../../domain/Id.ts"
import type { Entering } from "./verb/ConferenceField.ts"
import type { Beep, OnMemberLeft } from "./machine/ConferenceState.ts"

export type Caller = Omit<Audit.Caller, "scopes">

/** The API's request for a conference, with defaults applied. */
export interface CreateRequest {
  readonly name: string
  readonly hostCallId: Id.CallId
  readonly beepEnabled: Beep
  readonly startOnCreate: boolean
  readonly endOnExit: boolean
  readonly maxParticipants: number
  readonly durationMinutes: number
  readonly holdAudioUrl?: string
  readonly endWhenAloneSecs?: number | null
  readonly onMemberLeft?: OnMemberLeft
  readonly onMemberLeftAudioUrl?: string
}

/** A call that is dialled into a room: a placed call without the fields that only a call outside a room has. */
export type DialRequest = Pick<
  PlaceRequest,
  "from" | "to" | "routeId" | "customerReference" | "timeoutSecs" | "callerIdForwarding"
> &
  Entering
