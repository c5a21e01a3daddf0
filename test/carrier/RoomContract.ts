import { describe, expect } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { LegReport } from "../../src/carrier/Carrier.ts"
import type { ConferenceId, LegId } from "../../src/domain/Id.ts"
import * as Media from "../media/support/MediaSample.ts"
import * as Ids from "../support/Ids.ts"
import * as CarrierBench from "./CarrierBench.ts"
import type { Bench, Plain, Subject } from "./CarrierBench.ts"
import type { PlainRoom } from "./room/RoomMedia.ts"

const room = Ids.conference("room")
const hangup: Plain = { type: "hangup", origin: null, resume: null }
const bridge = (peerLegId: LegId): Plain => ({
  type: "bridge",
  peerLegId,
  peerCallId: Ids.call(`call of ${peerLegId}`)
})
const leave: Plain = { type: "leave_room" }
const join = (name: string, conferenceId = room, more: { readonly isMuted?: boolean } = {}): Plain => ({
  type: "join_room",
  conferenceId,
  memberId: Ids.member(name),
  isHost: false,
  isMuted: false,
  isHeld: false,
  ...more
})
const create = (near: LegId): PlainRoom => ({ type: "create", tenantId: Ids.tenant("tenant"), near })
const end: PlainRoom = { type: "end" }
const remove = (name: string): PlainRoom => ({ type: "remove", memberId: Ids.member(name) })
const mute = (name: string, isMuted = true): PlainRoom => ({ type: "mute", memberId: Ids.member(name), isMuted })
const media = (command: ReturnType<typeof Media.play>, to: ReadonlyArray<string> | null = null): PlainRoom => ({
  type: "media",
  tenantId: Ids.tenant("tenant"),
  media: command,
  to: to?.map(Ids.member) ?? null
})

const live = { type: "live" }
const over = { type: "over" }
const joined = (name: string, legId: LegId) => ({
  type: "member_joined",
  memberId: name,
  callId: `call of ${legId}`,
  legId
})
/** Beside that, the report says whether the leg has ended. */
const left = (name: string): unknown => expect.objectContaining({ type: "member_left", memberId: name })
const cameIn = (name: string, conferenceId = room) => ({ type: "room_joined", conferenceId, memberId: name })
const wentOut = (name: string, conferenceId = room) => ({ type: "room_left", conferenceId, memberId: name })
/** The reports of rooms, bridges and commands that failed. */
const story = (reports: ReadonlyArray<LegReport>) =>
  reports.filter(({ type }) => ["room_joined", "room_left", "bridged", "unbridged", "command_failed"].includes(type))
const failures = (reports: ReadonlyArray<{ readonly type: string; readonly reason?: string | null }>) =>
  reports.flatMap(({ reason, type }) => (type === "command_failed" ? [reason] : []))

/** The common behaviour of the rooms of all adapters of the carrier port. */
export const describeRooms = (name: string, subject: Subject): void => {
  const contract = CarrierBench.contractOf(subject)

  /** A room with these legs, each a different member, and its reports so far. */
  const gathered = (use: Bench, ...names: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const legs = yield* use.talking(...names)
      yield* use.tell(room, create(legs[0] ?? Ids.leg("")))
      for (const leg of legs) yield* use.send(leg, join(`${leg}'s`))
      yield* use.elapse(500)
      return legs
    })
  const hangUp = (use: Bench, ...legs: ReadonlyArray<LegId>) =>
    Effect.gen(function* () {
      for (const leg of legs) yield* use.send(leg, hangup)
      yield* use.elapse(1000)
    })
  const membersOf = (use: Bench, id: ConferenceId) =>
    Effect.map(
      use.roomSnapshot([id]),
      (snapshot) => snapshot?.rooms[id]?.members.map(({ memberId }) => memberId) ?? null
    )

  describe(`${name}, with rooms`, () => {
    contract("legs come into a room as members, and each leaves once", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* gathered(use, "one", "two")
        const { sink } = use
        expect(sink.rooms.of(room)).toStrictEqual([live, joined("one's", one), joined("two's", two)])
        expect([story(sink.of(one)), story(sink.of(two))]).toStrictEqual([[cameIn("one's")], [cameIn("two's")]])
        yield* use.send(one, leave)
        yield* use.tell(room, remove("two's"))
        yield* use.elapse(500)
        expect(new Set(sink.rooms.of(room).slice(3))).toStrictEqual(new Set([left("one's"), left("two's")]))
        expect([story(sink.of(one)).slice(1), story(sink.of(two)).slice(1)]).toStrictEqual([
          [wentOut("one's")],
          [wentOut("two's")]
        ])
        yield* use.send(one, leave)
        yield* use.tell(room, remove("two's"))
        yield* use.tell(room, end)
        yield* use.elapse(500)
        expect(sink.rooms.of(room).slice(5)).toStrictEqual([left("two's"), over])
        expect(story(sink.of(one)).length).toBe(2)
        const told = sink.rooms.told
        expect(told.map(({ n }) => n)).toStrictEqual(told.map((_, index) => index + 1))
        expect(new Set(told.map(({ incarnation }) => incarnation))).toStrictEqual(new Set([use.incarnation()]))
        expect(told.map(({ at }) => at)).toStrictEqual(told.map(({ at }) => at).toSorted((a, b) => a - b))
        yield* hangUp(use, one, two)
      })
    )

    contract("when a room ends, each member has left and goes on by itself", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* gathered(use, "one", "two")
        yield* use.tell(room, end)
        yield* use.again
        yield* use.tell(room, end)
        yield* use.elapse(2000)
        const told = use.sink.rooms.of(room).slice(3)
        expect(new Set(told.slice(0, 2))).toStrictEqual(new Set([left("one's"), left("two's")]))
        expect(new Set(told.slice(2))).toStrictEqual(new Set([over]))
        expect([story(use.sink.of(one)).slice(1), story(use.sink.of(two)).slice(1)]).toStrictEqual([
          [wentOut("one's")],
          [wentOut("two's")]
        ])
        expect((yield* use.roomSnapshot(null))?.rooms).toStrictEqual({})
        expect([yield* use.presence(one), yield* use.presence(two)]).toStrictEqual(["alive", "alive"])
        yield* use.send(one, bridge(two))
        yield* use.elapse(500)
        expect(story(use.sink.of(one)).at(-1)?.type).toBe("bridged")
        yield* hangUp(use, one, two)
        expect(use.sink.of(one).at(-1)?.type).toBe("ended")
      })
    )

    contract("a leg that ends leaves its room, and its call hears of its end alone", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* gathered(use, "one", "two")
        yield* hangUp(use, one)
        expect(use.sink.rooms.of(room).slice(3)).toStrictEqual([
          { type: "member_left", memberId: "one's", isCallOver: true }
        ])
        expect(
          use.sink
            .of(one)
            .map(({ type }) => type)
            .slice(2)
        ).toStrictEqual(["room_joined", "ended"])
        expect(yield* membersOf(use, room)).toStrictEqual(["two's"])
        yield* hangUp(use, two)
        yield* use.tell(room, end)
        yield* use.elapse(500)
        expect(use.sink.rooms.of(room).slice(4)).toStrictEqual([left("two's"), over])
      })
    )

    contract("a leg that ends while it comes in is never left behind", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg("")] = yield* use.talking("one")
        yield* use.tell(room, create(one))
        yield* use.send(one, join("one's"))
        yield* use.send(one, hangup)
        yield* use.elapse(1000)
        const told = use.sink.rooms.of(room)
        expect(told.filter(({ type }) => type === "member_joined").length).toBe(
          told.filter(({ type }) => type === "member_left").length
        )
        expect(yield* membersOf(use, room)).toStrictEqual([])
        yield* use.tell(room, end)
        yield* use.elapse(500)
        expect(use.sink.rooms.of(room).at(-1)).toStrictEqual(over)
      })
    )

    contract("a leg that is sent in and out at once is out, and may come again", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg("")] = yield* use.talking("one")
        yield* use.tell(room, create(one))
        yield* use.send(one, join("one's"))
        yield* use.send(one, leave)
        yield* use.send(one, join("again"))
        yield* use.elapse(500)
        expect(yield* membersOf(use, room)).toStrictEqual(["again"])
        expect(story(use.sink.of(one)).at(-1)).toStrictEqual(cameIn("again"))
        expect(story(use.sink.of(one))).toContainEqual(wentOut("one's"))
        yield* hangUp(use, one)
        yield* use.tell(room, end)
        yield* use.elapse(500)
        const told = use.sink.rooms.of(room)
        for (const member of ["one's", "again"]) {
          const of = told.filter((each) => "memberId" in each && each.memberId === member).map(({ type }) => type)
          expect([[], ["member_joined", "member_left"]]).toContainEqual(of)
        }
      })
    )

    contract("a leg is in one room or bridge at a time: where it was, it leaves first", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* use.talking("one", "two")
        const other = Ids.conference("other")
        const { sink } = use
        yield* use.tell(room, create(one))
        yield* use.tell(other, create(one))
        yield* use.send(one, bridge(two))
        yield* use.elapse(500)
        yield* use.send(one, join("a"))
        yield* use.elapse(500)
        yield* use.send(one, join("b", other))
        yield* use.elapse(500)
        yield* use.send(two, bridge(one))
        yield* use.elapse(500)
        expect(story(sink.of(one)).map((each) => [each.type, "memberId" in each ? each.memberId : null])).toStrictEqual(
          [
            ["bridged", null],
            ["unbridged", null],
            ["room_joined", "a"],
            ["room_left", "a"],
            ["room_joined", "b"],
            ["room_left", "b"],
            ["bridged", null]
          ]
        )
        expect(sink.rooms.of(room)).toStrictEqual([live, joined("a", one), left("a")])
        expect(sink.rooms.of(other)).toStrictEqual([live, joined("b", one), left("b")])
        expect(Object.keys((yield* use.roomSnapshot(null))?.rooms ?? {}).toSorted()).toStrictEqual([other, room])
        for (const each of [room, other]) yield* use.tell(each, end)
        yield* hangUp(use, one, two)
      })
    )

    contract("what is asked of a member is done and told; of one who is not there it fails", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* gathered(use, "one", "two")
        const memberId = Ids.member("one's")
        const targets = [Ids.member("two's")]
        yield* use.tell(room, mute("one's"))
        yield* use.tell(room, { type: "hold", memberId, isHeld: true, audioUrl: subject.sounds.good })
        yield* use.tell(room, { type: "supervise", memberId, role: "whisper", targets })
        yield* use.tell(room, { type: "beep", except: memberId })
        yield* use.tell(room, mute("nobody"))
        yield* use.tell(room, { type: "hold", memberId: Ids.member("nobody"), isHeld: true, audioUrl: null })
        yield* use.elapse(500)
        const told = use.sink.rooms.of(room).slice(3)
        expect(told.slice(0, 3)).toStrictEqual([
          { type: "member_muted", memberId, isMuted: true },
          { type: "member_held", memberId, isHeld: true },
          { type: "member_supervises", memberId, role: "whisper", targets }
        ])
        expect(failures(told)).toStrictEqual(["unknown_member", "unknown_member"])
        const [first] = (yield* use.roomSnapshot([room]))?.rooms[room]?.members ?? []
        expect(first).toMatchObject({
          memberId,
          callId: "call of one",
          legId: one,
          isMuted: true,
          isHeld: true,
          targets
        })
        expect(first?.ageMs ?? 0).toBeGreaterThanOrEqual(first?.changedMs ?? 0)
        yield* use.tell(room, mute("one's", false))
        yield* use.tell(room, { type: "hold", memberId, isHeld: false, audioUrl: null })
        yield* use.tell(room, { type: "supervise", memberId, role: "none", targets: [] })
        yield* use.elapse(500)
        expect((yield* use.roomSnapshot([room]))?.rooms[room]?.members[0]).toMatchObject({
          isMuted: false,
          isHeld: false,
          role: "none",
          targets: []
        })
        yield* use.tell(room, end)
        yield* hangUp(use, one, two)
      })
    )

    contract("a room that is not there fails what is asked of it, is over, and has lost whom it should remove", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg("")] = yield* use.talking("one")
        yield* use.send(one, join("one's"))
        yield* use.tell(room, mute("one's"))
        yield* use.tell(room, media(Media.play(Ids.work("p"), subject.sounds.good)))
        yield* use.tell(room, { type: "beep", except: null })
        yield* use.tell(room, remove("one's"))
        yield* use.tell(room, end)
        yield* use.elapse(500)
        const told = use.sink.rooms.of(room)
        expect(failures(told)).toStrictEqual(["unknown_room", "unknown_room"])
        expect(told.slice(2)).toStrictEqual([left("one's"), over])
        expect(failures(use.sink.of(one))).toStrictEqual(["unknown_room"])
        yield* hangUp(use, one)
      })
    )

    contract("a leg that is not answered, or not there, does not come in", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg("")] = yield* gathered(use, "one")
        const ringing = yield* use.dial(subject.phones.silent, Ids.leg("ringing"))
        yield* use.elapse(1000)
        yield* use.send(ringing, join("ringing's"))
        yield* use.send(ringing, leave)
        yield* use.send(Ids.leg("nobody"), join("nobody's"))
        yield* use.send(Ids.leg("nobody"), leave)
        yield* use.elapse(500)
        expect([failures(use.sink.of(ringing)), failures(use.sink.of(Ids.leg("nobody")))]).toStrictEqual([
          ["not_answered"],
          ["unknown_leg"]
        ])
        expect(yield* membersOf(use, room)).toStrictEqual(["one's"])
        yield* use.tell(room, end)
        yield* hangUp(use, one, ringing)
      })
    )

    contract("a sound is played to the room, or to some of it, and told to its end", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* gathered(use, "one", "two")
        yield* use.tell(room, media(Media.play(Ids.work("all"), subject.sounds.good)))
        yield* use.tell(room, media(Media.play(Ids.work("none"), subject.sounds.missing)))
        yield* use.elapse(2000)
        yield* use.tell(room, media(Media.play(Ids.work("one"), subject.sounds.good), ["one's"]))
        yield* use.elapse(2000)
        yield* use.tell(room, media(Media.play(Ids.work("long"), subject.sounds.good, 100)))
        yield* use.elapse(500)
        yield* use.tell(room, end)
        yield* use.elapse(1500)
        const told = use.sink.rooms.of(room)
        const ended = told.flatMap((each) => (each.type === "media" ? [each.event] : []))
        expect(new Set(ended.slice(0, 2))).toStrictEqual(
          new Set([Media.failed(Ids.work("none"), "http_404"), Media.completed(Ids.work("all"))])
        )
        expect(ended[2]).toStrictEqual(Media.completed(Ids.work("one")))
        expect(ended[3]).toMatchObject({ type: "ended", id: "long", status: "stopped" })
        expect(ended.length).toBe(4)
        expect(told.at(-1)).toStrictEqual(over)
        yield* hangUp(use, one, two)
      })
    )

    contract("a command that is sent again is not applied again", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg("")] = yield* use.talking("one")
        yield* use.tell(room, create(one))
        yield* use.again
        yield* use.elapse(200)
        yield* use.again
        yield* use.send(one, join("one's"))
        yield* use.again
        yield* use.elapse(200)
        yield* use.again
        yield* use.tell(room, media(Media.play(Ids.work("p"), subject.sounds.good)))
        yield* use.again
        yield* use.elapse(2000)
        // The leg's phone speaks, too.
        expect(use.sink.rooms.of(room).filter(({ type }) => type !== "member_speaking")).toStrictEqual([
          live,
          joined("one's", one),
          { type: "media", event: Media.completed(Ids.work("p")) }
        ])
        expect(story(use.sink.of(one))).toStrictEqual([cameIn("one's")])
        yield* use.tell(room, end)
        yield* hangUp(use, one)
      })
    )

    contract("an owner that was replaced is not obeyed any more", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg("")] = yield* gathered(use, "one")
        yield* use.takeRoomsOver
        yield* use.tell(room, mute("one's"))
        yield* use.tell(room, end)
        yield* use.elapse(1500)
        expect(use.sink.rooms.of(room)).toStrictEqual([live, joined("one's", one)])
        yield* use.tellAsNewOwner(room, end)
        yield* use.elapse(1500)
        expect(use.sink.rooms.of(room).at(-1)).toStrictEqual(over)
        yield* hangUp(use, one)
      })
    )

    contract("what is not committed is told again under its number, and nothing overtakes it", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* gathered(use, "one", "two")
        const { rooms } = use.sink
        rooms.commit(() => Effect.succeed("fault"))
        yield* use.tell(room, remove("one's"))
        yield* use.tell(room, mute("two's"))
        yield* use.tell(room, end)
        yield* use.elapse(2000)
        const through = yield* Effect.forkChild(use.roomCaughtUp(room))
        expect(new Set(rooms.told.slice(3).map(({ n }) => n))).toStrictEqual(new Set([4]))
        expect(story(use.sink.of(one)).at(-1), "its call knows").toStrictEqual(wentOut("one's"))
        expect(Object.keys((yield* use.roomSnapshot(null))?.rooms ?? {}), "its end is not through").toStrictEqual([
          room
        ])
        expect(yield* membersOf(use, room)).toStrictEqual([])
        expect(through.pollUnsafe()).toBeUndefined()
        rooms.commit(() => Effect.succeed("committed"))
        yield* use.elapse(5000)
        expect(through.pollUnsafe()).toBeDefined()
        yield* Fiber.await(through)
        expect(rooms.of(room).slice(3)).toStrictEqual([
          left("one's"),
          { type: "member_muted", memberId: "two's", isMuted: true },
          left("two's"),
          over
        ])
        expect((yield* use.roomSnapshot([room]))?.rooms).toStrictEqual({})
        yield* hangUp(use, one, two)
      })
    )

    contract("a room that nobody owns ends, and lets its members go", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg("")] = yield* gathered(use, "one")
        use.sink.rooms.commit(() => Effect.succeed("unknown"))
        yield* use.tell(room, mute("one's"))
        yield* use.elapse(1500)
        expect(use.sink.rooms.of(room).slice(3)).toStrictEqual([left("one's"), over])
        expect(story(use.sink.of(one))).toStrictEqual([cameIn("one's"), wentOut("one's")])
        expect((yield* use.roomSnapshot(null))?.rooms).toStrictEqual({})
        yield* hangUp(use, one)
      })
    )
  })
}
