import { expect } from "@effect/vitest"
import type { ToCall, ToConference } from "../../../src/telephony/call/Call.ts"
import type { RoomCommand, RoomEvent, RoomReport, RoomSnapshot } from "../../../src/carrier/room/Rooms.ts"
import type { ConferenceInput } from "../../../src/telephony/conference/machine/ConferenceInput.ts"
import * as ConferenceMachine from "../../../src/telephony/conference/machine/ConferenceMachine.ts"
import {
  type ConferenceState,
  isCompleted,
  isPresent
} from "../../../src/telephony/conference/machine/ConferenceState.ts"
import type * as Id from "../../../src/domain/Id.ts"
import type { EmittedByConference } from "../../../src/domain/event/EventCatalogue.ts"
import * as Ids from "../../support/Ids.ts"

/**
 * A conference with calls and a switch that follow only the rules of their sides. Every message between them may come
 * late and out of order, and twice between conference and calls. The world stops between the steps that a test makes.
 */
interface FakeCall {
  readonly id: Id.CallId
  readonly legId: Id.LegId
  isOver: boolean
  isAnswered: boolean
  room: { readonly memberId: Id.MemberId; isIn: boolean } | null
  readonly known: Set<Id.MemberId>
}

/** A message on its way. */
interface Mail {
  readonly to: "call" | "conference" | "switch"
  /** Messages of one line keep their order. */
  readonly line: string | null
  readonly deliver: () => void
}

const tenantId = Ids.tenant("00000000-0000-0000-0000-000000000001")

export const make = (options: {
  readonly maxParticipants: number
  readonly startOnCreate: boolean
  readonly endOnExit: boolean
  readonly holdAudioUrl?: string
  readonly endWhenAloneSecs?: number
  readonly onMemberLeft?: "play" | "hangup"
  readonly onMemberLeftAudioUrl?: string
}) => {
  let now = 1_000_000
  let seeds = 0
  let state: ConferenceState | null = null
  let mail: Array<Mail> = []
  const log: Array<{ readonly input: ConferenceInput; readonly now: number; readonly seed: string }> = []
  const events: Array<EmittedByConference> = []
  const refusals: Array<string> = []
  const calls = new Map<Id.CallId, FakeCall>()
  let incarnation = 1
  let room: {
    n: number
    readonly members: Map<Id.MemberId, { callId: Id.CallId; isMuted: boolean; isHeld: boolean }>
  } | null = null
  let roomWas = false
  const carriedOut = new Set<string>()

  const post = (to: Mail["to"], line: string | null, deliver: () => void) => void mail.push({ to, line, deliver })

  const current = (): ConferenceState => {
    if (state === null) throw new Error("there is no conference")
    return state
  }

  /** The conference takes an input at once. True: it was not refused. */
  const take = (input: ConferenceInput): boolean => {
    const seed = String(seeds++).padStart(32, "0")
    const outcome = ConferenceMachine.step(state, input, { now, seed })
    if (outcome.type === "rejected") refusals.push(outcome.error.code)
    if (outcome.type !== "accepted") return outcome.type === "unchanged"
    const before = state
    log.push({ input, now, seed })
    state = outcome.state
    events.push(...outcome.effects.events)
    if (before !== null && isCompleted(before))
      expect(
        outcome.effects.events.filter(({ type }) => !type.startsWith("recording.")),
        "a completed conference tells nothing more"
      ).toStrictEqual([])
    expect(state.members.filter(isPresent).length).toBeLessThanOrEqual(state.maxParticipants)
    for (const command of outcome.effects.commands) post("switch", "commands", () => interpret(command))
    for (const { callId, told } of outcome.effects.tells) post("call", null, () => tellCall(callId, told))
    return true
  }

  const report = (event: RoomReport, counted = true) => {
    if (room !== null && counted) room.n++
    const told = {
      ...event,
      conferenceId: current().id,
      at: now,
      incarnation: `life ${incarnation}`,
      n: counted ? (room?.n ?? lastN + 1) : 0
    } as RoomEvent
    lastN = told.n
    post("conference", `room ${incarnation}`, () => void take({ type: "room", event: told }))
  }
  let lastN = 0

  const answer = (told: ToConference) => post("conference", null, () => void take({ type: "told", told }))

  const membershipOf = (call: FakeCall, memberId: Id.MemberId) => ({
    conferenceId: current().id,
    memberId,
    callId: call.id
  })

  const tellCall = (callId: Id.CallId, told: ToCall): void => {
    const { conferenceId, memberId } = told
    const call = calls.get(callId)
    if (call === undefined) {
      if (told.type === "over") return answer({ type: "left", conferenceId, memberId, callId })
      return answer({ type: "refused", conferenceId, memberId, callId, reason: "gone" })
    }
    if (told.type === "over") {
      if (call.room?.memberId === memberId) return hangUp(call)
      return answer({ type: "left", ...membershipOf(call, memberId) })
    }
    if (call.room?.memberId === memberId)
      return call.isAnswered
        ? answer({ type: "entered", ...membershipOf(call, memberId), legId: call.legId })
        : undefined
    if (call.known.has(memberId)) return answer({ type: "left", ...membershipOf(call, memberId) })
    if (call.isOver) return answer({ type: "refused", ...membershipOf(call, memberId), reason: "gone" })
    if (call.room !== null)
      return answer({ type: "refused", ...membershipOf(call, memberId), reason: "in_another_room" })
    enter(call, memberId)
  }

  const enter = (call: FakeCall, memberId: Id.MemberId): void => {
    call.room = { memberId, isIn: true }
    call.known.add(memberId)
    answer({ type: "entered", ...membershipOf(call, memberId), legId: call.legId })
    post("switch", `leg ${call.id}`, () => {
      if (room === null || call.isOver)
        return post("call", `leg ${call.id}`, () => {
          leaves(call, memberId)
        })
      if (call.room?.memberId !== memberId || room.members.has(memberId)) return
      room.members.set(memberId, { callId: call.id, isMuted: false, isHeld: false })
      report({ type: "member_joined", memberId, callId: call.id, legId: call.legId })
    })
  }

  /** The call learns that its leg is no longer in the room. */
  const leaves = (call: FakeCall, memberId: Id.MemberId): void => {
    if (call.room?.memberId !== memberId) return
    call.room = null
    answer({ type: "left", ...membershipOf(call, memberId) })
  }

  const out = (memberId: Id.MemberId): boolean => {
    const there = room?.members.get(memberId)
    if (there === undefined) return false
    room?.members.delete(memberId)
    const call = calls.get(there.callId)
    if (call !== undefined) post("call", `leg ${call.id}`, () => leaves(call, memberId))
    return true
  }

  /** The call takes its leg elsewhere. */
  const moves = (call: FakeCall): void => {
    const { room: membership } = call
    if (call.isOver || membership === null) return
    call.room = null
    answer({ type: "left", ...membershipOf(call, membership.memberId) })
    post("switch", `leg ${call.id}`, () => {
      if (out(membership.memberId)) report({ type: "member_left", memberId: membership.memberId })
    })
  }

  const hangUp = (call: FakeCall): void => {
    if (call.isOver) return
    call.isOver = true
    const { room: membership } = call
    call.room = null
    if (membership === null) return
    answer({ type: "left", ...membershipOf(call, membership.memberId), isCallOver: true })
    post("switch", `leg ${call.id}`, () => {
      if (out(membership.memberId)) report({ type: "member_left", memberId: membership.memberId, isCallOver: true })
    })
  }

  const interpret = (command: RoomCommand): void => {
    if (carriedOut.has(command.commandId)) return
    carriedOut.add(command.commandId)
    const fail = () => report({ type: "command_failed", commandId: command.commandId, reason: "no_room" }, false)
    switch (command.type) {
      case "create":
        if (roomWas) return
        roomWas = true
        room = { n: 0, members: new Map() }
        return report({ type: "live" })
      case "end": {
        for (const memberId of room?.members.keys() ?? []) out(memberId)
        report({ type: "over" })
        room = null
        return
      }
      case "remove":
        out(command.memberId)
        return report({ type: "member_left", memberId: command.memberId })
      case "mute": {
        const member = room?.members.get(command.memberId)
        if (member === undefined) return fail()
        member.isMuted = command.isMuted
        return report({ type: "member_muted", memberId: command.memberId, isMuted: command.isMuted })
      }
      case "hold": {
        const member = room?.members.get(command.memberId)
        if (member === undefined) return fail()
        member.isHeld = command.isHeld
        return report({ type: "member_held", memberId: command.memberId, isHeld: command.isHeld })
      }
      case "supervise":
        return room?.members.has(command.memberId) === true
          ? report({
              type: "member_supervises",
              memberId: command.memberId,
              role: command.role,
              targets: command.targets
            })
          : fail()
      case "media":
        return command.media.type === "play" && room !== null
          ? report({ type: "media", event: { type: "ended", id: command.media.id, status: "completed", reason: null } })
          : undefined
      case "beep":
        return
    }
  }

  const newCall = (isAnswered: boolean): FakeCall => {
    const id = Ids.call(`svc_call_${calls.size}`)
    const call: FakeCall = {
      id,
      legId: Ids.leg(`svc_leg_${calls.size}`),
      isOver: false,
      isAnswered,
      room: null,
      known: new Set()
    }
    calls.set(id, call)
    return call
  }

  const act = (action: Extract<ConferenceInput, { readonly type: "action" }>["action"]) =>
    take({ type: "action", action, mostParticipants: null })

  const snapshot = (): RoomSnapshot => ({
    incarnation: `life ${incarnation}`,
    rooms:
      room === null
        ? {}
        : {
            [current().id]: {
              n: room.n,
              members: [...room.members].flatMap(([memberId, { callId, isHeld, isMuted }]) => {
                const call = calls.get(callId)
                return call === undefined
                  ? []
                  : [
                      {
                        memberId,
                        callId,
                        legId: call.legId,
                        isMuted,
                        isHeld,
                        role: "none" as const,
                        targets: [],
                        ageMs: 0,
                        changedMs: 0
                      }
                    ]
              })
            }
          }
  })

  const host = newCall(true)
  take({
    type: "create",
    conferenceId: Ids.conference("svc_conf_1"),
    timeOffsetMs: 0,
    tenantId,
    routeId: Ids.route("svc_route_1"),
    adapter: "switch",
    hostCallId: host.id,
    hostLegId: host.legId,
    customerReference: "order 7",
    name: "Weekly",
    beepEnabled: "always",
    durationMinutes: 720,
    ...options
  })

  /** The messages that may arrive next: the first of each line, and all that have none. */
  const deliverable = () =>
    mail.filter((each) => each.line === null || mail.find(({ line }) => line === each.line) === each)

  const deliver = (each: Mail): void => {
    mail = mail.filter((other) => other !== each)
    each.deliver()
  }

  const fire = (): boolean => {
    const next = state === null ? null : ConferenceMachine.nextDeadline(state)
    if (next === null) return false
    now = Math.max(now, next.at)
    take(next.input)
    return true
  }

  return {
    host,
    calls,
    events,
    refusals,
    log,
    act,
    take,
    newCall,
    hangUp,
    report,
    moves,
    current,
    membership: (memberId: Id.MemberId) => current().members.find(({ id }) => id === memberId),
    /** The members that the switch has. */
    inSwitch: (): ReadonlyArray<Id.MemberId> => [...(room?.members.keys() ?? [])],
    room: () => room,
    underway: () => mail.length,
    /** A call is dialled for a membership. */
    dial: (): FakeCall | null => {
      const memberId = Ids.member(`svc_member_dialled_${seeds}`)
      const callId = Ids.call(`svc_call_${calls.size}`)
      const legId = Ids.leg(`svc_leg_${calls.size}`)
      if (!take({ type: "claim", memberId, callId, legId })) return null
      const call = newCall(false)
      call.room = { memberId, isIn: false }
      call.known.add(memberId)
      return call
    },
    answers: (call: FakeCall): void => {
      if (call.isOver || call.isAnswered || call.room === null) return
      call.isAnswered = true
      const { memberId } = call.room
      call.room = null
      call.known.delete(memberId)
      enter(call, memberId)
    },
    /** Delivers one message. `twice`: once more later, if possible. */
    deliverOne: (choice: number, twice: boolean): void => {
      const all = deliverable()
      const each = all[choice % Math.max(1, all.length)]
      if (each === undefined) return
      if (twice && each.line === null) mail.push({ ...each })
      deliver(each)
    },
    /** The engine dies and recovers: uncommitted messages are lost, events of the switch are sent again. */
    crash: (): void => {
      mail = mail.filter(
        ({ line, to }) => to !== "call" && (to !== "conference" || line !== null) && line !== "commands"
      )
      take({ type: "recovered", snapshot: snapshot(), lostAt: now })
    },
    /** The switch dies with all its state. */
    switchDies: (): void => {
      mail = mail.filter(({ line }) => line === null)
      incarnation++
      room = null
      for (const call of calls.values()) hangUp(call)
      take({ type: "recovered", snapshot: snapshot(), lostAt: now })
    },
    pass: (ms: number): void => {
      now += ms
      const next = ConferenceMachine.nextDeadline(current())
      if (next !== null && next.at <= now) take(next.input)
    },
    fire,
    /** Delivers all messages on their way, and those that are repeated while an answer is awaited. */
    settle: (): void => {
      for (let count = 0; count < 2_000; count++) {
        const [each] = deliverable()
        if (each !== undefined) {
          deliver(each)
          continue
        }
        if (!current().members.some(({ told }) => told !== null)) return
        // Ringing calls have nothing to report.
        const next = ConferenceMachine.nextDeadline(current())
        if (next?.input.type !== "deadline" || next.input.deadline !== "told") return
        if (current().members.every(({ phase, told }) => told === null || phase === "ringing")) return
        fire()
      }
      throw new Error("it does not come to rest")
    }
  } as const
}

export type RoomWorld = ReturnType<typeof make>
