import { Context, Effect, Layer, Queue } from "effect"
import { Carrier, type CarrierAdapter, CarrierSink, type LegReport } from "../../../src/carrier/Carrier.ts"
import { type RoomOrder, type RoomReport, RoomSink } from "../../../src/carrier/room/Rooms.ts"
import type { CallId, ConferenceId, LegId, MemberId } from "../../../src/domain/Id.ts"
import * as CarrierSample from "../../support/fake/CarrierSample.ts"

interface Membership {
  readonly callId: CallId
  readonly legId: LegId
  isMuted: boolean
  isHeld: boolean
}

/** A switch whose legs live until they are hung up, with rooms: its events come later than its actions. */
let lives = 0

const make = Effect.gen(function* () {
  const incarnation = `life ${++lives}`
  const legSink = yield* CarrierSink
  const roomSink = yield* RoomSink
  const numbered = CarrierSample.numbered(incarnation)
  const rooms = new Map<ConferenceId, { n: number; readonly members: Map<MemberId, Membership> }>()
  const over = new Set<LegId>()
  const dialled: Array<CallId> = []
  const told = yield* Queue.unbounded<Effect.Effect<unknown>>()
  let untold = 0
  const later = (tell: Effect.Effect<unknown>): void => {
    untold++
    Queue.offerUnsafe(told, tell)
  }
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.flatMap(Queue.take(told), (tell) =>
        Effect.andThen(
          tell,
          Effect.sync(() => untold--)
        )
      )
    )
  )

  const tellCall = (callId: CallId, legId: LegId, report: LegReport) =>
    later(Effect.suspend(() => legSink.tell(callId, numbered(legId, Number.MAX_SAFE_INTEGER, report))))
  const tellRoom = (conferenceId: ConferenceId, report: RoomReport, counted = true) => {
    const room = rooms.get(conferenceId)
    if (room !== undefined && counted) room.n++
    const n = counted ? (room?.n ?? 0) : 0
    later(
      Effect.suspend(() =>
        roomSink.tell(conferenceId, { ...report, conferenceId, at: Number.MAX_SAFE_INTEGER, incarnation, n })
      )
    )
  }

  /** Takes a member out. */
  const out = (conferenceId: ConferenceId, memberId: MemberId, told: "call" | "nobody"): boolean => {
    const room = rooms.get(conferenceId)
    const membership = room?.members.get(memberId)
    if (room === undefined || membership === undefined) return false
    room.members.delete(memberId)
    if (told === "call") tellCall(membership.callId, membership.legId, { type: "room_left", conferenceId, memberId })
    return true
  }

  const membershipOf = (legId: LegId) => {
    for (const [conferenceId, { members }] of rooms)
      for (const [memberId, membership] of members) if (membership.legId === legId) return { conferenceId, memberId }
    return null
  }

  const ended = (callId: CallId, legId: LegId): void => {
    if (over.has(legId)) return
    over.add(legId)
    const membership = membershipOf(legId)
    if (membership !== null && out(membership.conferenceId, membership.memberId, "nobody"))
      tellRoom(membership.conferenceId, { type: "member_left", memberId: membership.memberId, isCallOver: true })
    tellCall(callId, legId, { type: "ended", cause: "hangup", sipStatus: null, by: "far" })
  }

  const command = ({ command: asked }: RoomOrder): void => {
    const { conferenceId } = asked
    const room = rooms.get(conferenceId)
    const fail = () =>
      tellRoom(conferenceId, { type: "command_failed", commandId: asked.commandId, reason: "x" }, false)
    switch (asked.type) {
      case "create":
        if (room !== undefined) return
        rooms.set(conferenceId, { n: 0, members: new Map() })
        return tellRoom(conferenceId, { type: "live" })
      case "end":
        for (const memberId of room?.members.keys() ?? []) out(conferenceId, memberId, "call")
        tellRoom(conferenceId, { type: "over" })
        return void rooms.delete(conferenceId)
      case "remove":
        out(conferenceId, asked.memberId, "call")
        return tellRoom(conferenceId, { type: "member_left", memberId: asked.memberId })
      case "mute":
      case "hold": {
        const membership = room?.members.get(asked.memberId)
        if (membership === undefined) return fail()
        if (asked.type === "mute") {
          membership.isMuted = asked.isMuted
          return tellRoom(conferenceId, { type: "member_muted", memberId: asked.memberId, isMuted: asked.isMuted })
        }
        membership.isHeld = asked.isHeld
        return tellRoom(conferenceId, { type: "member_held", memberId: asked.memberId, isHeld: asked.isHeld })
      }
      case "supervise":
        return tellRoom(conferenceId, {
          type: "member_supervises",
          memberId: asked.memberId,
          role: asked.role,
          targets: asked.targets
        })
      case "beep":
      case "media":
        return
    }
  }

  const adapter: CarrierAdapter = {
    ...CarrierSample.adapter(
      (asked) =>
        Effect.sync(() => {
          switch (asked.type) {
            case "join_room": {
              const { callId, conferenceId, legId, memberId } = asked
              const room = rooms.get(conferenceId)
              if (over.has(legId)) return
              if (room === undefined)
                return tellCall(callId, legId, {
                  type: "command_failed",
                  commandId: asked.commandId,
                  reason: "no_room"
                })
              room.members.set(memberId, { callId, legId, isMuted: asked.isMuted, isHeld: asked.isHeld })
              tellRoom(conferenceId, { type: "member_joined", memberId, callId, legId })
              return tellCall(callId, legId, { type: "room_joined", conferenceId, memberId })
            }
            case "leave_room": {
              const membership = membershipOf(asked.legId)
              if (membership !== null && out(membership.conferenceId, membership.memberId, "call"))
                tellRoom(membership.conferenceId, { type: "member_left", memberId: membership.memberId })
              return
            }
            case "dial":
              return void dialled.push(asked.callId)
            case "hangup":
              return ended(asked.callId, asked.legId)
            default:
              return
          }
        }),
      incarnation
    ),
    rooms: {
      interpret: (order) => Effect.sync(() => command(order)),
      snapshot: () =>
        Effect.sync(() => ({
          incarnation,
          rooms: Object.fromEntries(
            [...rooms].map(([conferenceId, { members, n }]) => [
              conferenceId,
              {
                n,
                members: [...members].map(([memberId, membership]) => ({
                  memberId,
                  ...membership,
                  role: "none" as const,
                  targets: [],
                  ageMs: 0,
                  changedMs: 0
                }))
              }
            ])
          )
        })),
      caughtUp: () => Effect.void
    }
  }

  return {
    adapter,
    /** The far end picks up, or hangs up. */
    answers: (callId: CallId, legId: LegId) => tellCall(callId, legId, { type: "answered", resume: null }),
    ended,
    /** Calls in the order in which they were dialled. */
    dialled: (): ReadonlyArray<CallId> => dialled,
    speaks: (conferenceId: ConferenceId, memberId: MemberId, isSpeaking: boolean) =>
      tellRoom(conferenceId, { type: "member_speaking", memberId, isSpeaking }),
    /** The members of a room. */
    members: (conferenceId: ConferenceId): ReadonlyMap<MemberId, Membership> =>
      rooms.get(conferenceId)?.members ?? new Map(),
    /** Adds a member that no conference asked for, or removes one without an event. */
    slip: (conferenceId: ConferenceId, memberId: MemberId, membership: Membership | null): void => {
      if (membership === null) rooms.get(conferenceId)?.members.delete(memberId)
      else rooms.get(conferenceId)?.members.set(memberId, membership)
    },
    /** True: every event is sent. */
    isQuiet: () => untold === 0
  } as const
})

export class FakeSwitch extends Context.Service<FakeSwitch, Effect.Success<typeof make>>()("test/FakeSwitch") {
  /** Registered as `simulator`. */
  static readonly layer = Layer.effect(
    FakeSwitch,
    Effect.gen(function* () {
      const fake = yield* make
      yield* (yield* Carrier).register("simulator", fake.adapter)
      return fake
    })
  )
}
