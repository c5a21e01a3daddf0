import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { LegReport, Told } from "../../../src/carrier/Carrier.ts"
import { RoomSink, type RoomEvent } from "../../../src/carrier/room/Rooms.ts"
import { type Plane, SharedRooms } from "../../../src/carrier/room/SharedRooms.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"
import type { PlainRoom } from "./RoomMedia.ts"

const room = Ids.conference("room")
const roomLeg = Id.derive(room, "leg")

/** A plane that carries out requests and records them. */
const makePlane = () => {
  const asked: Array<string> = []
  const listeners = new Map<LegId, Parameters<Plane["subscribe"]>[1]>()
  const note = (text: string) => Effect.sync(() => void asked.push(text))
  const plane: Plane = {
    openRoom: (id, tenant, near) => note(`open ${id === roomLeg ? "room" : id} ${tenant} ${near}`),
    enterRoom: (leg, _, { isHost, memberId }) => note(`enter ${leg} ${memberId}${isHost ? " host" : ""}`),
    leaveRoom: (leg) => note(`leave ${leg}`),
    changeMember: (_, memberId, change) => note(`set ${memberId} ${change.type}`),
    beep: (_, except) => note(`beep ${except}`),
    command: (_, tenant, media, to) => note(`${media.type} ${tenant} ${to?.join() ?? "all"}`),
    close: (id) =>
      Effect.andThen(
        note("close"),
        Effect.sync(() => listeners.get(id)?.closed())
      ),
    subscribe: (id, listener) => Effect.sync(() => void listeners.set(id, listener))
  }
  return { asked, listeners, plane }
}

/** A carrier whose legs talk, with a record of their reports. */
const makeCarrier = (incarnation: string, ...names: ReadonlyArray<string>) => {
  const legs = new Set<LegId>(names.map(Ids.leg))
  const told: Array<string> = []
  const tell = (legId: LegId) => (report: LegReport) =>
    void told.push(`${legId} ${report.type}${"reason" in report ? ` ${report.reason}` : ""}`)
  const options = {
    incarnation,
    legOf: (legId: LegId) => (legs.has(legId) ? { isTalking: () => true, tell: tell(legId) } : null),
    unbridge: (legId: LegId) => void told.push(`${legId} is parted`)
  }
  return { told, options }
}

const bench = Effect.gen(function* () {
  const shared = yield* SharedRooms
  const events: Array<RoomEvent> = []
  const sink = { answer: "committed" as Told }
  yield* (yield* RoomSink).listen((_, ...told) =>
    Effect.sync(() => {
      events.push(...told)
      return sink.answer
    })
  )
  const media = makePlane()
  const [sip, simulator] = [makeCarrier("sip-1", "a"), makeCarrier("sim-1", "b")]
  const [ofSip, ofSimulator] = [shared.add(media.plane, sip.options), shared.add(media.plane, simulator.options)]
  let commands = 0
  const quiet = TestClock.adjust(1)
  return {
    ...media,
    sip: { ...sip, ...ofSip },
    simulator: { ...simulator, ...ofSimulator },
    events,
    sink,
    quiet,
    tell: (command: PlainRoom, rooms = ofSip.rooms) => {
      const named = { ...command, commandId: Ids.command(`${++commands}`), conferenceId: room }
      return Effect.andThen(rooms.interpret({ authority: { partition: 0, epoch: 1 }, command: named }), quiet)
    },
    join: (carrier: typeof ofSip, leg: string) =>
      Effect.andThen(
        Effect.sync(() =>
          carrier.join({
            type: "join_room",
            commandId: Ids.command(`${++commands}`),
            callId: Ids.call(`call of ${leg}`),
            legId: Ids.leg(leg),
            conferenceId: room,
            memberId: Ids.member(`${leg}'s`),
            isHost: leg === "a",
            isMuted: false,
            isHeld: false
          })
        ),
        quiet
      ),
    said: () => events.map((event) => `${event.type}${"memberId" in event ? ` ${event.memberId}` : ""}`)
  }
})

const create: PlainRoom = { type: "create", tenantId: Ids.tenant("t"), near: Ids.leg("a") }
const shared = (title: string, test: (use: Effect.Success<typeof bench>) => Effect.Effect<void>) =>
  it.effect(title, () =>
    Effect.flatMap(bench, test).pipe(Effect.provide(Layer.provideMerge(SharedRooms.layer, RoomSink.layer)))
  )

describe("Carriers whose legs stand in one media plane", () => {
  shared("have rooms in common: each tells of its own legs, and a room is that carrier's which made it", (use) =>
    Effect.gen(function* () {
      yield* use.tell(create)
      yield* use.join(use.sip, "a")
      yield* use.join(use.simulator, "b")
      yield* use.tell({ type: "beep", except: Ids.member("a's") })
      expect(use.asked).toStrictEqual(["open room t a", "enter a a's host", "enter b b's", "beep a's"])
      expect(use.sip.told).toStrictEqual(["a is parted", "a room_joined"])
      expect(use.simulator.told).toStrictEqual(["b is parted", "b room_joined"])
      expect(use.said()).toStrictEqual(["live", "member_joined a's", "member_joined b's"])
      expect(new Set(use.events.map(({ incarnation }) => incarnation))).toStrictEqual(new Set(["sip-1"]))
      const authority = { partition: 0, epoch: 1 }
      const [own, others] = [
        yield* use.sip.rooms.snapshot(authority, null),
        yield* use.simulator.rooms.snapshot(authority, [room])
      ]
      expect([own?.incarnation, own?.rooms[room]?.n, own?.rooms[room]?.members.length]).toStrictEqual(["sip-1", 3, 2])
      expect(others).toStrictEqual({ incarnation: "sim-1", rooms: {} })
    })
  )

  shared("a room whose media are gone is over, and each of its members has left", (use) =>
    Effect.gen(function* () {
      yield* use.tell(create)
      yield* use.join(use.sip, "a")
      use.listeners.get(roomLeg)?.lost()
      use.listeners.get(roomLeg)?.closed()
      yield* use.quiet
      expect(use.said().slice(2)).toStrictEqual(["member_left a's", "over"])
      // The room's place in the plane is freed.
      expect(use.asked.at(-1)).toBe("close")
      expect(use.sip.told.slice(1)).toStrictEqual(["a room_joined", "a room_left"])
      yield* use.tell({ type: "end" })
      expect(use.said().slice(4)).toStrictEqual(["over"])
    })
  )

  shared("a room whose media never say that they are closed is over all the same", (use) =>
    Effect.gen(function* () {
      yield* use.tell(create)
      use.listeners.delete(roomLeg)
      yield* use.tell({ type: "end" })
      let isThrough = false
      const through = Effect.andThen(
        use.sip.rooms.caughtUp(room),
        Effect.sync(() => void (isThrough = true))
      )
      yield* Effect.forkChild(through)
      yield* use.quiet
      expect([use.said(), isThrough]).toStrictEqual([["live"], false])
      yield* TestClock.adjust("1 second")
      expect([use.said(), isThrough]).toStrictEqual([["live", "over"], true])
    })
  )

  shared("who speaks is told, and what is played to some", (use) =>
    Effect.gen(function* () {
      yield* use.tell(create)
      yield* use.join(use.sip, "a")
      use.listeners.get(roomLeg)?.spoke(Ids.member("a's"), true)
      yield* use.quiet
      expect(use.events.at(-1)).toMatchObject({ type: "member_speaking", memberId: "a's", isSpeaking: true })
      const stop = { type: "stop_playback", which: "all" } as const
      yield* use.tell({ type: "media", tenantId: Ids.tenant("t"), media: stop, to: [Ids.member("a's")] })
      yield* use.tell({ type: "media", tenantId: Ids.tenant("t"), media: stop, to: null })
      expect(use.asked.slice(2)).toStrictEqual(["stop_playback t a's", "stop_playback t all"])
    })
  )

  shared("nothing is left in memory of a room that is over", (use) =>
    Effect.gen(function* () {
      use.sink.answer = "unknown"
      yield* use.tell(create)
      yield* TestClock.adjust("2 seconds")
      expect(use.said()).toStrictEqual(["live", "over"])
      const authority = { partition: 0, epoch: 1 }
      expect((yield* use.sip.rooms.snapshot(authority, null))?.rooms).toStrictEqual({})
      yield* use.sip.rooms.caughtUp(room)
    })
  )
})
