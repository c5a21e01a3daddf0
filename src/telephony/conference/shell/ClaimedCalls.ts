import { Effect } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import type { CallId, ConferenceId, MemberId } from "../../../domain/Id.ts"
import { type ConferenceState, isPresent } from "../machine/ConferenceState.ts"

const taken = ApiError.of("conflict", "the call is in a conference already")

/**
 * The calls that live conferences have or ask for. A call takes its membership only after the conference has answered,
 * so the call alone would let several conferences have it at once, and all but one of them would lose it again.
 */
export const make = (isLive: (id: ConferenceId) => boolean) => {
  /** Calls of requests that are under way. */
  const asked = new Set<CallId>()
  const members = new Map<CallId, { readonly id: MemberId; readonly conferenceId: ConferenceId }>()

  const isTaken = (callId: CallId): boolean => {
    const member = members.get(callId)
    // A conference whose actor gave up reports nothing any more.
    return asked.has(callId) || (member !== undefined && isLive(member.conferenceId))
  }

  return {
    /** Keeps the call for this request. `conflict`: another request or a conference has it. */
    during: <A, E, R>(callId: CallId, request: Effect.Effect<A, E, R>): Effect.Effect<A, ApiError | E, R> =>
      Effect.suspend((): Effect.Effect<A, ApiError | E, R> => {
        if (isTaken(callId)) return Effect.fail(taken)
        asked.add(callId)
        return Effect.ensuring(
          request,
          Effect.sync(() => asked.delete(callId))
        )
      }),
    /** Notes the members of a state that is committed. */
    follow: (before: ConferenceState | null, state: ConferenceState): void => {
      if (before?.members === state.members) return
      for (const member of state.members) {
        if (isPresent(member)) members.set(member.callId, { id: member.id, conferenceId: state.id })
        else if (members.get(member.callId)?.id === member.id) members.delete(member.callId)
      }
    },
    /** Forgets the conferences that are no longer here. */
    retain: (): void => {
      for (const [callId, { conferenceId }] of members) if (!isLive(conferenceId)) members.delete(callId)
    }
  } as const
}
