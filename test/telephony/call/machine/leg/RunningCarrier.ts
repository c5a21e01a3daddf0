import { Clock, Effect } from "effect"
import * as Bridges from "../../../../../src/carrier/bridge/Bridges.ts"
import type { CarrierCommand, CarrierEvent, LegReport, Snapshot, Told } from "../../../../../src/carrier/Carrier.ts"
import type * as Id from "../../../../../src/domain/Id.ts"
import type { MediaCommand, MediaEvent } from "../../../../../src/ports/media/MediaMessage.ts"
import type * as Random from "../../../../support/Random.ts"
import type * as RunningRows from "./RunningRows.ts"

/**
 * A carrier that outlives the engines. Its events are sent until they are durable, late and more than once, each leg's
 * in order. It takes a command once, and none while it is away.
 */
export interface Phone {
  readonly callId: Id.CallId
  readonly direction: "inbound" | "outbound"
  phase: "alerting" | "talking" | "over"
  n: number
  /** Events that are not durable yet; `at` in milliseconds of the test's clock. */
  told: ReadonlyArray<CarrierEvent>
  isTelling: boolean
  readonly taken: Set<string>
  /** In milliseconds of the test's clock. */
  answeredAt: number | null
  readonly pressed: Array<{ readonly digit: string; readonly at: number }>
  readonly playing: Set<Id.WorkId>
  readonly recording: Set<Id.WorkId>
}

/** Receives the events of the legs. */
export interface Listener {
  readonly hear: (callId: Id.CallId, event: CarrierEvent) => Effect.Effect<Told>
}

export const incarnation = "first life"

export const make = Effect.fnUntraced(function* (random: Random.Random, rows: RunningRows.Rows) {
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const context = yield* Effect.context()
  const phones = new Map<Id.LegId, Phone>()
  /** Recordings that the media have, or had. */
  const started = new Set<Id.WorkId>()
  let listener: Listener | null = null

  const fork = (effect: Effect.Effect<void>): void => void Effect.runForkWith(context)(Effect.forkIn(effect, scope))
  const later = (withinMs: number, act: () => void): void =>
    fork(Effect.andThen(Effect.sleep(random.below(withinMs)), Effect.sync(act)))

  /** Sends the events of a leg one after the other, each until it is durable. */
  const pump = (phone: Phone): Effect.Effect<void> =>
    Effect.gen(function* () {
      for (let [event] = phone.told; event !== undefined; [event] = phone.told) {
        yield* Effect.sleep(random.chance(0.1) ? random.below(5_000) : random.below(30))
        const copies = random.chance(0.1) ? 2 : 1
        for (let copy = 0; copy < copies; copy++) {
          const told = listener === null ? "fault" : yield* listener.hear(phone.callId, event)
          if (told !== "fault" && phone.told[0] === event) phone.told = phone.told.slice(1)
        }
      }
      phone.isTelling = false
    })

  const say = (legId: Id.LegId, phone: Phone, report: LegReport): void => {
    phone.told = [...phone.told, { legId, at: clock.currentTimeMillisUnsafe(), incarnation, n: ++phone.n, ...report }]
    if (phone.isTelling) return
    phone.isTelling = true
    fork(pump(phone))
  }
  const tell = (legId: Id.LegId, report: LegReport): void => {
    const phone = phones.get(legId)
    if (phone !== undefined && phone.phase !== "over") say(legId, phone, report)
  }
  const media = (legId: Id.LegId, event: MediaEvent): void => tell(legId, { type: "media", event })

  const isTalking = (legId: Id.LegId) => phones.get(legId)?.phase === "talking"
  const bridges = Bridges.make({
    legOf: (legId) => {
      const phone = phones.get(legId)
      return phone === undefined || phone.phase === "over"
        ? null
        : { isTalking: () => isTalking(legId), tell: (report) => tell(legId, report) }
    },
    // The media answer later.
    join: (_, __, settled) => later(20, () => settled(random.chance(0.05) ? "other_thread" : null)),
    part: () => undefined,
    leaveRoom: () => undefined
  })

  /** The rooms that legs are in; `joins`: the command of a leg that is not in yet. */
  const rooms = new Map<
    Id.LegId,
    { readonly memberId: Id.MemberId; readonly conferenceId: Id.ConferenceId; joins: Id.CommandId | null }
  >()
  const leaveRoom = (legId: Id.LegId): void => {
    const room = rooms.get(legId)
    if (room === undefined) return
    rooms.delete(legId)
    const { conferenceId, joins: commandId, memberId } = room
    tell(
      legId,
      commandId === null
        ? { type: "room_left", conferenceId, memberId }
        : { type: "command_failed", commandId, reason: "left_room" }
    )
  }
  const joinRoom = (command: Extract<CarrierCommand, { readonly type: "join_room" }>): void => {
    const { commandId, conferenceId, legId, memberId } = command
    const fail = () => tell(legId, { type: "command_failed", commandId, reason: "no_such_room" })
    if (!isTalking(legId)) return fail()
    bridges.unbridge(legId)
    leaveRoom(legId)
    const room = { conferenceId, memberId, joins: commandId as Id.CommandId | null }
    rooms.set(legId, room)
    const isRefused = random.chance(0.05)
    // The media answer later, or never.
    if (random.chance(0.03)) return
    later(20, () => {
      if (rooms.get(legId) !== room) return
      if (isRefused) {
        rooms.delete(legId)
        return fail()
      }
      room.joins = null
      tell(legId, { type: "room_joined", conferenceId, memberId })
    })
  }

  const add = (legId: Id.LegId, callId: Id.CallId, direction: Phone["direction"], taken: ReadonlyArray<string>): void =>
    void phones.set(legId, {
      callId,
      direction,
      phase: "alerting",
      n: 0,
      told: [],
      isTelling: false,
      taken: new Set(taken),
      answeredAt: null,
      pressed: [],
      playing: new Set(),
      recording: new Set()
    })

  const answer = (legId: Id.LegId): void => {
    const phone = phones.get(legId)
    if (phone?.phase !== "alerting") return
    phone.phase = "talking"
    phone.answeredAt = clock.currentTimeMillisUnsafe()
    tell(legId, { type: "answered", resume: null })
  }
  const end = (legId: Id.LegId, report: Omit<Extract<LegReport, { readonly type: "ended" }>, "type">): void => {
    const phone = phones.get(legId)
    if (phone === undefined || phone.phase === "over") return
    const wasTalking = phone.phase === "talking"
    phone.phase = "over"
    bridges.ended(legId)
    rooms.delete(legId)
    if (wasTalking && random.chance(0.3)) say(legId, phone, { type: "leaving", ...report })
    say(legId, phone, { type: "ended", ...report })
    for (const id of phone.recording) store(legId, phone, id)
  }

  /** A recording is reported even after its leg. */
  const store = (legId: Id.LegId, phone: Phone, id: Id.WorkId): void => {
    if (!phone.recording.delete(id)) return
    later(4_000, () =>
      say(legId, phone, {
        type: "media",
        event: {
          type: "recording_stored",
          id,
          durationMs: 1_000,
          sizeBytes: 8_000,
          downloadUrl: "https://example.com/"
        }
      })
    )
  }
  const silence = (legId: Id.LegId, phone: Phone, ids: ReadonlyArray<Id.WorkId>): void => {
    for (const id of ids)
      if (phone.playing.delete(id)) media(legId, { type: "ended", id, status: "stopped", reason: null })
  }

  /** Fails recordings that await an outcome and never began, because their command was lost. */
  const tellLost = (): void => {
    for (const { state } of rows.calls.values())
      for (const { item } of state.outliving) {
        const phone = phones.get(item.legId)
        if (phone === undefined || started.has(item.id)) continue
        started.add(item.id)
        const lost = { type: "ended", id: item.id, status: "failed", reason: "lost" } as const
        say(item.legId, phone, { type: "media", event: lost })
      }
  }
  fork(Effect.forever(Effect.andThen(Effect.sleep(30_000), Effect.sync(tellLost))))

  const perform = (legId: Id.LegId, phone: Phone, command: MediaCommand): void => {
    switch (command.type) {
      case "play": {
        const { id, target } = command
        const refusal =
          phone.phase !== "talking"
            ? "not_answered"
            : target === "self" || bridges.facts(legId).bridge !== undefined
              ? null
              : "not_bridged"
        if (refusal !== null) return media(legId, { type: "ended", id, status: "failed", reason: refusal })
        phone.playing.add(id)
        return later(8_000, () => {
          if (phone.playing.delete(id)) media(legId, { type: "ended", id, status: "completed", reason: null })
        })
      }
      case "stop_playback":
        return silence(legId, phone, [...phone.playing].slice(0, command.which === "all" ? undefined : 1))
      case "cut_playback":
        return silence(legId, phone, [...phone.playing])
      case "start_recording": {
        const { id } = command
        if (started.has(id)) return
        started.add(id)
        if (phone.phase !== "talking")
          return say(legId, phone, {
            type: "media",
            event: { type: "ended", id, status: "failed", reason: "no_sound" }
          })
        phone.recording.add(id)
        if (random.chance(0.3))
          later(8_000, () => {
            if (!phone.recording.has(id)) return
            media(legId, { type: "recording_stopped", id })
            store(legId, phone, id)
          })
        return
      }
      case "stop_recording":
        return store(legId, phone, command.recording)
      default:
        return
    }
  }

  const carry = (command: CarrierCommand): void => {
    const { commandId, legId, type } = command
    if (!rows.commands.has(commandId)) rows.faults.push(`${type} was sent before it was stored`)
    if (listener === null) return
    const phone = phones.get(legId)
    if (type === "dial") {
      if (phone === undefined) add(legId, command.callId, "outbound", [commandId])
      return
    }
    if (phone === undefined || phone.taken.has(commandId)) return
    phone.taken.add(commandId)
    switch (type) {
      case "hangup":
        return end(legId, { cause: "hangup", sipStatus: null, by: "near" })
      case "reject":
        return end(legId, { cause: "final_response", sipStatus: 480, by: "near" })
      case "answer":
        return later(500, () => answer(legId))
      case "ring":
        return
      case "bridge":
        if (phone.phase === "talking" && isTalking(command.peerLegId))
          for (const each of [legId, command.peerLegId]) leaveRoom(each)
        return bridges.bridge(command)
      case "join_room":
        return joinRoom(command)
      case "leave_room":
        return leaveRoom(legId)
      case "unbridge":
        return bridges.unbridge(legId)
      case "refer":
        return tell(
          legId,
          phone.phase === "talking"
            ? { type: "referred", commandId, status: "accepted", sipStatus: 202 }
            : { type: "command_failed", commandId, reason: "not_answered" }
        )
      case "media":
        return perform(legId, phone, command.media)
    }
  }

  return {
    phones,
    facts: bridges.facts,
    /** The member as which the leg is in a room; null: it is in none. */
    memberOf: (legId: Id.LegId): Id.MemberId | null => {
      const room = rooms.get(legId)
      return room === undefined || room.joins !== null ? null : room.memberId
    },
    /** A conference removes its member. */
    remove: leaveRoom,
    /** Begins an inbound leg. */
    offer: (legId: Id.LegId, callId: Id.CallId): void => add(legId, callId, "inbound", []),
    answer,
    end,
    tell,
    press: (legId: Id.LegId, digit: string): void => {
      const phone = phones.get(legId)
      if (phone?.phase !== "talking") return
      const at = clock.currentTimeMillisUnsafe()
      phone.pressed.push({ digit, at })
      media(legId, { type: "dtmf", digit, at })
    },
    carry,
    /** Null: the carrier is away. */
    connect: (to: Listener | null) => void (listener = to),
    caughtUp: (legId: Id.LegId) =>
      Effect.gen(function* () {
        while ((phones.get(legId)?.told.length ?? 0) > 0) yield* Effect.sleep(20)
      }),
    snapshot: (): Snapshot => ({
      incarnation,
      legs: Object.fromEntries(
        [...phones].map(([legId, { n, phase }]) => [
          legId,
          {
            state: phase === "talking" ? ("answered" as const) : phase,
            n,
            ageMs: 0,
            answeredMs: null,
            ...bridges.facts(legId)
          }
        ])
      )
    })
  }
})

export type RunningCarrier = Effect.Success<ReturnType<typeof make>>
