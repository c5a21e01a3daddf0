import { Clock, Deferred, Effect, Exit, FiberSet } from "effect"
import type { RoomEvent } from "../../../carrier/room/Rooms.ts"
import type { ConferenceId, MemberId, TenantId } from "../../../domain/Id.ts"
import { type ConferenceState, isCompleted, type Member } from "../machine/ConferenceState.ts"

/** Whether a tenant wants events about speaking members. */
export type Wants = (tenantId: TenantId) => Effect.Effect<boolean>

const maySpeak = ({ isHeld, isMuted, phase }: Member): boolean => phase === "joined" && !isMuted && !isHeld

/** How long an answer is valid. */
const holdsMs = 5_000

/**
 * The speaking members of live conferences. They are shown from memory, and committed only when a subscription wants
 * them, because in a lively room they change several times a second.
 */
export const make = Effect.fnUntraced(function* (wants: Wants) {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const speaking = new Map<ConferenceId, Set<MemberId>>()
  /** Live rooms by tenant. The wishes of a tenant without a live room are not kept. */
  const rooms = new Map<TenantId, Set<ConferenceId>>()
  const wanted = new Map<TenantId, { readonly at: number; readonly is: boolean }>()
  const asking = new Map<TenantId, Deferred.Deferred<boolean>>()

  const ask = (tenantId: TenantId): Deferred.Deferred<boolean> => {
    const already = asking.get(tenantId)
    if (already !== undefined) return already
    const answer = Deferred.makeUnsafe<boolean>()
    asking.set(tenantId, answer)
    fork(
      wants(tenantId).pipe(
        Effect.catchCause((cause) =>
          Effect.as(
            Effect.logWarning("who speaks may not be told: subscriptions cannot be read", cause),
            wanted.get(tenantId)?.is ?? false
          )
        ),
        Effect.map((is) => {
          if (rooms.has(tenantId)) wanted.set(tenantId, { at: clock.currentTimeMillisUnsafe(), is })
          asking.delete(tenantId)
          Deferred.doneUnsafe(answer, Exit.succeed(is))
        })
      )
    )
    return answer
  }

  /** The last known answer. Only when there is none does the caller wait for it. */
  const isWanted = (tenantId: TenantId): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const known = wanted.get(tenantId)
      if (known !== undefined && clock.currentTimeMillisUnsafe() - known.at <= holdsMs) return Effect.succeed(known.is)
      const answer = ask(tenantId)
      return known === undefined ? Deferred.await(answer) : Effect.succeed(known.is)
    })

  const forget = (tenantId: TenantId, id: ConferenceId): void => {
    const live = rooms.get(tenantId)
    live?.delete(id)
    if (live !== undefined && live.size > 0) return
    rooms.delete(tenantId)
    wanted.delete(tenantId)
  }
  const note = (state: ConferenceState): void => {
    const { id, tenantId } = state
    if (isCompleted(state)) return forget(tenantId, id)
    const live = rooms.get(tenantId)
    if (live === undefined) rooms.set(tenantId, new Set([id]))
    else live.add(id)
  }

  const isSpeaking = (id: ConferenceId, memberId: MemberId): boolean => speaking.get(id)?.has(memberId) ?? false

  /** A room without a speaking member has no entry. */
  const keep = (id: ConferenceId, known: Set<MemberId>): void => {
    if (known.size === 0) speaking.delete(id)
    else speaking.set(id, known)
  }

  return {
    isSpeaking,
    /** The number of rooms with a speaking member. */
    size: () => speaking.size,
    /** The number of tenants with an entry. */
    tenants: () => Math.max(rooms.size, wanted.size),
    of: (id: ConferenceId): ReadonlyArray<MemberId> => [...(speaking.get(id) ?? [])],
    /** Notes the event. True: it is to be committed, because it is wanted or because its beginning was committed. */
    heard: (
      state: ConferenceState,
      { isSpeaking: is, memberId }: Extract<RoomEvent, { readonly type: "member_speaking" }>
    ): Effect.Effect<boolean> => {
      note(state)
      const member = state.members.find(({ id }) => id === memberId)
      const known = speaking.get(state.id) ?? new Set()
      // The event may arrive after the end of a room.
      if (is && member !== undefined && maySpeak(member)) known.add(memberId)
      else known.delete(memberId)
      keep(state.id, known)
      return member?.isSpeaking === true ? Effect.succeed(true) : isWanted(state.tenantId)
    },
    /** Forgets members that have left the room, are muted or are on hold, because they cannot speak. */
    follow: (state: ConferenceState): void => {
      const { id, members, tenantId } = state
      note(state)
      // Asks early, so that the answer is known before the first word.
      if (rooms.has(tenantId) && !wanted.has(tenantId)) ask(tenantId)
      const known = speaking.get(id)
      if (known === undefined) return
      const may = new Set(members.filter(maySpeak).map((member) => member.id))
      for (const memberId of known) if (!may.has(memberId)) known.delete(memberId)
      keep(id, known)
    },
    retain: (isLive: (id: ConferenceId) => boolean): void => {
      for (const id of speaking.keys()) if (!isLive(id)) speaking.delete(id)
      for (const [tenantId, live] of rooms) for (const id of live) if (!isLive(id)) forget(tenantId, id)
    }
  } as const
})
