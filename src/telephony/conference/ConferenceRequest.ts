import type * as Audit from "../../runtime/audit/Audit.ts"
import type { PlaceRequest } from "../call/Call.ts"
import type * as Id from "../../domain/Id.ts"
import type { Beep } from "./machine/ConferenceState.ts"

export type Caller = Omit<Audit.Caller, "scopes">

/** A conference as the API asks for it, defaults applied. */
export interface CreateRequest {
  readonly name: string
  readonly hostCallId: Id.CallId
  readonly beepEnabled: Beep
  readonly startOnCreate: boolean
  readonly endOnExit: boolean
  readonly maxParticipants: number
  readonly durationMinutes: number
}

/** A call that is dialled into a room: as placed, but without what only a call of its own has. */
export type DialRequest = Pick<
  PlaceRequest,
  "from" | "to" | "routeId" | "customerReference" | "timeoutSecs" | "callerIdForwarding"
>
