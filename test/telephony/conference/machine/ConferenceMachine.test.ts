import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as ConferenceMachine from "../../../../src/telephony/conference/machine/ConferenceMachine.ts"
import {
  type ConferenceState,
  isCompleted,
  isPresent
} from "../../../../src/telephony/conference/machine/ConferenceState.ts"
import type * as Id from "../../../../src/domain/Id.ts"
import * as Ids from "../../../support/Ids.ts"
import * as RoomWorld from "../RoomWorld.ts"

/** One step of a random walk: what happens, and to which member. */
const Move = Schema.Struct({
  what: Schema.Literals([
    "deliver",
    "deliver",
    "deliver",
    "deliver",
    "deliver twice",
    "join",
    "join",
    "dial",
    "answer",
    "hang up",
    "remove",
    "mute",
    "unmute",
    "hold",
    "unhold",
    "play",
    "soft end",
    "end on exit",
    "rejoin",
    "end",
    "crash",
    "switch dies",
    "pass"
  ]),
  who: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 })),
  /** One in eight of the rare steps happens. */
  seldom: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 7 }))
})
type Move = typeof Move.Type

const walks = {
  moves: Schema.Array(Move).check(Schema.isMaxLength(120)),
  maxParticipants: Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 5 })),
  startOnCreate: Schema.Boolean,
  endOnExit: Schema.Boolean
}

const pick = <A>(all: ReadonlyArray<A>, who: number): A | undefined => all[who % Math.max(1, all.length)]

const move = (world: RoomWorld.RoomWorld, { seldom, what, who }: Move): void => {
  const members = world.current().members.filter(({ phase }) => phase === "joined")
  const member = pick(members, who)
  const call = pick([...world.calls.values()], who)
  const legIds = member === undefined || member.legId === null ? null : ([member.legId] as const)
  switch (what) {
    case "deliver":
      return world.deliverOne(who, false)
    case "deliver twice":
      return world.deliverOne(who, true)
    case "join":
      return void world.act({ verb: "join", body: { callId: world.newCall(true).id, mute: false, hold: false } })
    case "rejoin":
      if (call !== undefined && !call.isOver)
        world.act({ verb: "join", body: { callId: call.id, mute: false, hold: false } })
      return
    case "dial":
      return void world.dial()
    case "answer":
      return call === undefined ? undefined : world.answers(call)
    case "hang up":
      return call === undefined ? undefined : world.hangUp(call)
    case "remove":
      return call === undefined ? undefined : void world.act({ verb: "remove_member", member: call.id })
    case "mute":
    case "unmute":
      return legIds === null ? undefined : void world.act({ verb: what, body: { legIds } })
    case "hold":
    case "unhold":
      return legIds === null ? undefined : void world.act({ verb: what, body: { legIds } })
    case "play":
      return void world.act({ verb: "play", body: { url: "https://example.com/a.wav", loop: 1 } })
    case "soft end":
      return member === undefined || seldom !== 0
        ? undefined
        : void world.act({ verb: "update_member", memberId: member.id, body: { softEndOnExit: true } })
    case "end on exit":
      return member === undefined || seldom !== 0
        ? undefined
        : void world.act({ verb: "update_member", memberId: member.id, body: { endOnExit: true } })
    case "end":
      return seldom === 0 ? void world.act({ verb: "end", body: {} }) : undefined
    case "crash":
      return seldom < 3 ? world.crash() : undefined
    case "switch dies":
      return seldom === 0 ? world.switchDies() : undefined
    case "pass":
      return world.pass(seldom * 5_000)
  }
}

interface Walk {
  readonly moves: ReadonlyArray<Move>
  readonly maxParticipants: number
  readonly startOnCreate: boolean
  readonly endOnExit: boolean
}

const walk = ({ moves, ...options }: Walk): RoomWorld.RoomWorld => {
  const world = RoomWorld.make(options)
  for (const each of moves) move(world, each)
  return world
}

/** The members of the room by the conference, by the calls and by the switch. */
const words = (world: RoomWorld.RoomWorld) => {
  const live = isCompleted(world.current()) ? [] : world.current().members
  return {
    conference: live.flatMap(({ id, phase }) => (phase === "joined" ? [id] : [])).toSorted(),
    calls: [...world.calls.values()]
      .flatMap(({ isAnswered, room }) => (room !== null && isAnswered ? [room.memberId] : []))
      .toSorted(),
    switch: [...world.inSwitch()].toSorted()
  }
}

const created = () => RoomWorld.make({ maxParticipants: 3, startOnCreate: true, endOnExit: true })
const types = (world: RoomWorld.RoomWorld) => world.events.map(({ type }) => type)

describe("A conference among calls and a switch, in any order (src/telephony/README.md#rooms-of-conferences)", () => {
  const runs = { arbitrary: { runs: 1_500 } }

  it.prop(
    "all agree on who is in the room whenever nothing is under way",
    walks,
    (options) => {
      const world = walk(options)
      world.settle()
      const { calls, conference, switch: there } = words(world)
      expect(there).toStrictEqual(conference)
      expect(calls).toStrictEqual(conference)
      for (const member of world.current().members)
        if (member.phase === "joined")
          expect({ isMuted: member.isMuted, isHeld: member.isHeld }).toStrictEqual({
            isMuted: world.room()?.members.get(member.id)?.isMuted,
            isHeld: world.room()?.members.get(member.id)?.isHeld
          })
      // Only ringing members still wait.
      for (const { phase } of world.current().members.filter(isPresent)) expect(["joined", "ringing"]).toContain(phase)
    },
    runs
  )

  it.prop(
    "each who joined leaves once, and nothing is told of a member behind that",
    walks,
    (options) => {
      const world = walk(options)
      world.act({ verb: "end", body: {} })
      world.settle()
      const left = new Set<string>()
      const joined = new Set<string>()
      for (const { data, type } of world.events) {
        if (!("memberId" in data)) continue
        expect(left.has(data.memberId), `${type} behind the end of its member`).toBe(false)
        if (type === "conference.member_joined") {
          expect(joined.has(data.memberId)).toBe(false)
          joined.add(data.memberId)
        } else expect(joined.has(data.memberId)).toBe(true)
        if (type === "conference.member_left") left.add(data.memberId)
      }
      expect(left).toStrictEqual(joined)
    },
    runs
  )

  it.prop(
    "it starts once at most and ends once; each sound ends once",
    walks,
    (options) => {
      const world = walk(options)
      world.act({ verb: "end", body: {} })
      world.settle()
      const told = types(world)
      expect(told.filter((type) => type === "conference.started").length).toBeLessThanOrEqual(1)
      expect(told.filter((type) => type === "conference.ended")).toHaveLength(1)
      const ends = world.events.flatMap(({ data, type }) =>
        type === "conference.playback_ended" && "playbackId" in data ? [data.playbackId] : []
      )
      expect(new Set(ends).size).toBe(ends.length)
      expect(world.current().playbacks).toStrictEqual([])
      expect(world.current().sequence).toBe(world.events.length)
    },
    runs
  )

  it.prop(
    "it settles when its deadlines fire, whoever is silent",
    walks,
    (options) => {
      const world = walk(options)
      for (let count = 0; count < 400 && !ConferenceMachine.isSettled(world.current()); count++) world.fire()
      expect(ConferenceMachine.isSettled(world.current())).toBe(true)
    },
    runs
  )

  it.prop(
    "its inputs, played again, give the same state",
    walks,
    (options) => {
      const world = walk(options)
      let replayed: ConferenceState | null = null
      for (const { input, now, seed } of world.log) {
        const outcome = ConferenceMachine.step(replayed, input, { now, seed })
        expect(outcome.type).toBe("accepted")
        if (outcome.type === "accepted") replayed = outcome.state
      }
      expect(replayed).toStrictEqual(world.current())
    },
    runs
  )
})

describe("Races of a conference", () => {
  it("gives the last seat to one of two, and what rings counts", () => {
    const world = created()
    world.settle()
    expect(world.dial()).not.toBeNull()
    expect(world.act({ verb: "join", body: { callId: world.newCall(true).id, mute: false, hold: false } })).toBe(true)
    expect(world.act({ verb: "join", body: { callId: world.newCall(true).id, mute: false, hold: false } })).toBe(false)
    expect(world.dial()).toBeNull()
    expect(world.refusals).toStrictEqual(["conference_full", "conference_full"])
  })

  it("is completed and never started when its host goes before the room is live", () => {
    const world = created()
    const { id, members } = world.current()
    const [host] = members
    if (host === undefined) return expect.unreachable("there is a host")
    world.hangUp(world.host)
    world.take({
      type: "told",
      told: { type: "refused", conferenceId: id, memberId: host.id, callId: world.host.id, reason: "gone" }
    })
    world.settle()
    expect(types(world)).toStrictEqual(["conference.ended"])
    expect(ConferenceMachine.isSettled(world.current())).toBe(true)
  })

  it("tells calls that there never was a room, where the carrier makes none", () => {
    for (const isRefused of [true, false]) {
      const world = created()
      const { id, members, pending } = world.current()
      const [command] = pending
      if (command === undefined) return expect.unreachable("a room is asked for")
      const of = { conferenceId: id, at: 1_000_000, incarnation: "life 1", n: 1 }
      const failed = { ...of, type: "command_failed", commandId: command.commandId, reason: "too_many_legs" } as const
      if (isRefused) world.take({ type: "room", event: failed })
      while (!isCompleted(world.current())) world.fire()
      expect(types(world)).toStrictEqual(["conference.ended"])
      expect(world.membership(members[0]?.id ?? Ids.member(""))?.told).toMatchObject({ type: "over", neverStood: true })
    }
  })

  it("hangs up one who answers when it is over, and does not let it in", () => {
    const world = created()
    world.settle()
    const call = world.dial()
    if (call === null) return expect.unreachable("there is a seat")
    world.act({ verb: "end", body: {} })
    world.answers(call)
    world.settle()
    expect(call.isOver).toBe(true)
    expect(types(world).filter((type) => type === "conference.member_joined")).toHaveLength(1)
    expect(ConferenceMachine.isSettled(world.current())).toBe(true)
  })

  it("spares the new seat of one who comes back before the old one was left", () => {
    const world = RoomWorld.make({ maxParticipants: 3, startOnCreate: true, endOnExit: false })
    world.settle()
    const [first] = world.current().members
    world.act({ verb: "join", body: { callId: world.newCall(true).id, mute: false, hold: false } })
    world.settle()
    world.act({ verb: "remove_member", member: world.host.id })
    world.settle()
    world.act({ verb: "join", body: { callId: world.host.id, mute: false, hold: false } })
    world.settle()
    const again = world.current().members.at(-1)
    expect(again?.callId).toBe(world.host.id)
    expect(again?.role).toBe("host")
    // A late message about the old membership.
    if (first === undefined) return expect.unreachable("there is a host")
    world.take({
      type: "told",
      told: { type: "left", conferenceId: world.current().id, memberId: first.id, callId: world.host.id }
    })
    expect(world.current().members.at(-1)?.phase).toBe("joined")
  })

  it("tells no flag of one who left while it was being muted", () => {
    const world = created()
    const call = world.newCall(true)
    world.act({ verb: "join", body: { callId: call.id, mute: false, hold: false } })
    world.settle()
    world.act({ verb: "mute", body: { legIds: [call.legId] } })
    world.hangUp(call)
    world.settle()
    const told = types(world)
    expect(told.lastIndexOf("conference.member_muted")).toBeLessThan(told.lastIndexOf("conference.member_left"))
    expect(world.current().pending).toStrictEqual([])
  })

  it("starts with the second who is in it, where it was asked to wait", () => {
    const world = RoomWorld.make({ maxParticipants: 3, startOnCreate: false, endOnExit: true })
    world.settle()
    expect(world.current().status).toBe("init")
    world.act({ verb: "join", body: { callId: world.newCall(true).id, mute: false, hold: false } })
    world.settle()
    expect(world.current().status).toBe("in_progress")
    expect(types(world).filter((type) => type === "conference.started")).toHaveLength(1)
  })

  it("ends softly when nobody off hold is there", () => {
    const world = RoomWorld.make({ maxParticipants: 4, startOnCreate: true, endOnExit: false })
    const [one, other] = [world.newCall(true), world.newCall(true)]
    for (const { id } of [one, other]) world.act({ verb: "join", body: { callId: id, mute: false, hold: false } })
    world.settle()
    const [host] = world.current().members
    if (host === undefined) return expect.unreachable("there is a host")
    world.act({ verb: "update_member", memberId: host.id, body: { softEndOnExit: true } })
    world.act({ verb: "hold", body: { legIds: [one.legId] } })
    world.hangUp(world.host)
    world.settle()
    expect(world.current().status).toBe("in_progress")
    world.act({ verb: "hold", body: { legIds: [other.legId] } })
    world.settle()
    expect(world.current().status).toBe("completed")
    expect([one.isOver, other.isOver]).toStrictEqual([true, true])
  })

  it("ends once, when the request, the last one out and the time come together", () => {
    const world = created()
    world.settle()
    world.act({ verb: "end", body: {} })
    world.hangUp(world.host)
    world.take({ type: "deadline", deadline: "duration" })
    world.settle()
    expect(types(world).filter((type) => type === "conference.ended")).toHaveLength(1)
    expect(world.act({ verb: "end", body: {} })).toBe(false)
    expect(world.refusals.at(-1)).toBe("conference_already_ended")
  })

  it("ends at the moment that was due, and not behind what was asked later", () => {
    const world = created()
    world.settle()
    world.pass(720 * 60_000 + 900)
    const ended = world.events.find(({ type }) => type === "conference.ended")
    expect(ended?.data).toMatchObject({ durationSeconds: 720 * 60 })

    const shortened = created()
    shortened.settle()
    shortened.pass(10 * 60_000)
    shortened.act({ verb: "update", body: { durationMinutes: 5 } })
    shortened.pass(1)
    expect(shortened.events.find(({ type }) => type === "conference.ended")?.data).toMatchObject({
      durationSeconds: 10 * 60
    })
  })

  it("says why it ended and why each member left, whichever report came first", () => {
    const peopled = (more: { readonly endOnExit?: boolean } = {}) => {
      const world = RoomWorld.make({ maxParticipants: 3, startOnCreate: true, endOnExit: true, ...more })
      world.settle()
      const guest = world.newCall(true)
      world.take({
        type: "action",
        action: { verb: "join", body: { callId: guest.id, mute: false, hold: false } },
        joining: { legId: guest.legId, customerReference: "guest 1" },
        mostParticipants: null
      })
      world.settle()
      const member = world.current().members.at(-1)
      if (member === undefined) throw new Error("nobody joined")
      return { world, guest, member }
    }
    type Peopled = ReturnType<typeof peopled>
    const cases: ReadonlyArray<
      readonly [(of: Peopled) => void, ended: string | null, left: ReadonlyArray<string>, endOnExit?: boolean]
    > = [
      [({ world }) => world.act({ verb: "end", body: {} }), "api", ["conference_ended", "conference_ended"]],
      [({ world }) => world.hangUp(world.host), "host_left", ["call_ended", "conference_ended"]],
      [({ world }) => world.moves(world.host), "host_left", ["moved", "conference_ended"]],
      [({ guest, world }) => world.hangUp(guest), null, ["call_ended"]],
      [({ guest, world }) => world.moves(guest), null, ["moved"]],
      [({ member, world }) => world.act({ verb: "remove_member", member: member.id }), null, ["api"]],
      [
        ({ guest, member, world }) => {
          world.act({ verb: "update_member", memberId: member.id, body: { endOnExit: true } })
          world.hangUp(guest)
        },
        "member_left",
        ["call_ended", "conference_ended"]
      ],
      [
        ({ guest, world }) => {
          world.hangUp(world.host)
          world.settle()
          world.hangUp(guest)
        },
        "empty",
        ["call_ended", "call_ended"],
        false
      ],
      [
        ({ guest, member, world }) => {
          world.act({ verb: "update_member", memberId: member.id, body: { softEndOnExit: true } })
          world.act({ verb: "hold", body: { legIds: [world.host.legId] } })
          world.settle()
          world.hangUp(guest)
        },
        "all_on_hold",
        ["call_ended", "conference_ended"]
      ],
      [
        ({ world }) => {
          while (!isCompleted(world.current())) world.fire()
        },
        "duration",
        ["conference_ended", "conference_ended"]
      ],
      [({ world }) => world.take({ type: "ended_by_system", by: "operator" }), "operator", ["conference_ended"]],
      [({ world }) => world.take({ type: "ended_by_system", by: "service" }), "service", ["conference_ended"]],
      [({ world }) => world.take({ type: "faulted", reason: "test" }), "service", ["conference_ended"]],
      [
        ({ world }) =>
          world.take({ type: "recovered", snapshot: { incarnation: "life 2", rooms: {} }, lostAt: 1_000_000 }),
        "carrier",
        ["conference_ended"]
      ]
    ]
    for (const order of [0, 1, 2])
      for (const [act, ended, left, endOnExit = true] of cases) {
        const peopledRoom = peopled({ endOnExit })
        const { world } = peopledRoom
        act(peopledRoom)
        for (let count = 0; count < 30; count++) world.deliverOne(order, false)
        world.settle()
        const reasons = (type: string) =>
          world.events.flatMap((event) => (event.type === type && "reason" in event.data ? [event.data.reason] : []))
        expect(reasons("conference.ended")).toStrictEqual(ended === null ? [] : [ended])
        expect(new Set<unknown>(reasons("conference.member_left"))).toStrictEqual(new Set(left))
        for (const { data, type } of world.events) {
          const isGuests = "memberId" in data && data.memberId === peopledRoom.member.id
          const { id: callId, legId } = isGuests ? peopledRoom.guest : world.host
          expect(data, type).toMatchObject({ callId, legId, customerReference: isGuests ? "guest 1" : "order 7" })
        }
      }
  })

  it("lets a member in as it was asked to, in each message to its call, and tells its role once", () => {
    const world = created()
    world.settle()
    const { legId } = world.host
    const guest = world.newCall(true)
    const body = {
      callId: guest.id,
      mute: true,
      hold: true,
      holdAudioUrl: "https://example.com/music.mp3",
      role: "whisper" as const,
      whisperLegIds: [legId] as const,
      beepEnabled: "never" as const,
      endOnExit: true,
      softEndOnExit: true
    }
    expect(world.act({ verb: "join", body: { ...body, whisperLegIds: [Ids.leg("svc_leg_nobody")] } })).toBe(false)
    expect(world.refusals).toStrictEqual(["member_not_found"])
    const [host] = world.current().members
    world.act({ verb: "join", body })
    const entering = { role: "whisper", targets: [host?.id], audioUrl: body.holdAudioUrl }
    expect(world.current().members.at(-1)).toMatchObject({
      isMuted: true,
      isHeld: true,
      beepEnabled: "never",
      endOnExit: true,
      softEndOnExit: true,
      enters: entering
    })
    world.events.length = 0
    world.settle()
    expect(types(world)).toStrictEqual(["conference.member_joined", "conference.member_role_changed"])
    const dialled = world.take({
      type: "claim",
      memberId: Ids.member("svc_member_dialled"),
      callId: Ids.call("svc_call_dialled"),
      legId: Ids.leg("svc_leg_dialled"),
      entering: { mute: true, role: "monitor" }
    })
    expect(dialled).toBe(true)
    expect(world.current().members.at(-1)).toMatchObject({ isMuted: true, enters: { role: "monitor", targets: [] } })
  })

  it("holds those who wait for its start with its music, unless a request has decided otherwise", () => {
    for (const isReleased of [false, true]) {
      const world = RoomWorld.make({
        maxParticipants: 3,
        startOnCreate: false,
        endOnExit: true,
        holdAudioUrl: "https://example.com/music.mp3"
      })
      world.settle()
      expect(types(world)).toStrictEqual(["conference.member_joined", "conference.member_held"])
      if (isReleased) world.act({ verb: "unhold", body: { legIds: [world.host.legId] } })
      world.settle()
      world.act({ verb: "join", body: { callId: world.newCall(true).id, mute: false, hold: false } })
      world.settle()
      expect(types(world).filter((type) => type.endsWith("held"))).toStrictEqual([
        "conference.member_held",
        "conference.member_unheld"
      ])
      expect(world.current().members.every(({ isHeld }) => !isHeld)).toBe(true)
      expect(world.current().status).toBe("in_progress")
    }
  })

  it("tells that the sound of a hold cannot be played, once, and of no hold that is over", () => {
    const world = created()
    world.settle()
    const [host] = world.current().members
    const hold = (audioUrl: string) => {
      world.act({ verb: "hold", body: { legIds: [world.host.legId], audioUrl } })
      const sound = world.current().members[0]?.holdSound
      world.settle()
      if (sound === undefined || sound === null) throw new Error("it has no sound")
      return sound
    }
    const fails = (id: Id.WorkId) => {
      world.report({ type: "media", event: { type: "ended", id, status: "failed", reason: "http_404" } })
      world.settle()
    }
    const told = () => world.events.flatMap(({ data, type }) => (type === "conference.playback_ended" ? [data] : []))
    const first = hold("https://example.com/a.mp3")
    const second = hold("https://example.com/b.mp3")
    fails(first)
    expect(told()).toStrictEqual([])
    fails(second)
    fails(second)
    expect(told()).toMatchObject([
      { playbackId: second, status: "failed", reason: "http_404", heldLegId: host?.legId, callId: world.host.id }
    ])
  })

  it("plays to the one who is left alone on hold, or hangs it up, and only then", () => {
    const url = "https://example.com/sorry.wav"
    const met = (more: { readonly onMemberLeft?: "play" | "hangup"; readonly onMemberLeftAudioUrl?: string }) => {
      const world = RoomWorld.make({ maxParticipants: 3, startOnCreate: true, endOnExit: false, ...more })
      world.settle()
      const guests = [world.newCall(true), world.newCall(true)]
      for (const { id: callId } of guests) world.act({ verb: "join", body: { callId, mute: false, hold: false } })
      world.settle()
      world.act({ verb: "hold", body: { legIds: [world.host.legId] } })
      world.settle()
      const leave = () => {
        const guest = guests.pop()
        if (guest !== undefined) world.hangUp(guest)
        world.settle()
      }
      return { world, leave }
    }
    const isHeld = ({ world }: ReturnType<typeof met>) => world.current().members[0]?.isHeld
    const play = met({ onMemberLeft: "play", onMemberLeftAudioUrl: url })
    play.leave()
    expect(isHeld(play)).toBe(true)
    play.leave()
    expect(isHeld(play)).toBe(false)
    expect(types(play.world).slice(-3)).toStrictEqual([
      "conference.member_left",
      "conference.member_unheld",
      "conference.playback_ended"
    ])
    const hangUp = met({ onMemberLeft: "hangup" })
    hangUp.leave()
    hangUp.leave()
    expect(hangUp.world.host.isOver).toBe(true)
    expect(hangUp.world.events.at(-1)).toMatchObject({ type: "conference.ended", data: { reason: "left_on_hold" } })
    const none = met({})
    none.leave()
    none.leave()
    expect([isHeld(none), none.world.current().status]).toStrictEqual([true, "in_progress"])
  })

  it("ends when all but one have left for so long, not before there were two, nor while another is expected", () => {
    const alone = () =>
      RoomWorld.make({ maxParticipants: 3, startOnCreate: true, endOnExit: false, endWhenAloneSecs: 30 })
    const reason = (world: RoomWorld.RoomWorld) =>
      world.events.flatMap(({ data, type }) => (type === "conference.ended" && "reason" in data ? [data.reason] : []))
    const waiting = alone()
    waiting.settle()
    const unanswered = waiting.dial()
    if (unanswered !== null) waiting.hangUp(unanswered)
    waiting.settle()
    waiting.pass(60_000)
    expect(reason(waiting)).toStrictEqual([])
    const world = alone()
    world.settle()
    const guest = world.newCall(true)
    world.act({ verb: "join", body: { callId: guest.id, mute: false, hold: false } })
    world.settle()
    world.hangUp(guest)
    world.settle()
    world.pass(29_000)
    const again = world.dial()
    if (again === null) return expect.unreachable("there is a place")
    world.pass(5_000)
    expect(reason(world)).toStrictEqual([])
    world.hangUp(again)
    world.settle()
    world.pass(30_000)
    expect(reason(world)).toStrictEqual(["alone"])
  })

  it("tells who is held, is back, and hears whom, once for each change, also where only the snapshot shows it", () => {
    const world = created()
    world.settle()
    const [host] = world.current().members
    if (host === undefined) return expect.unreachable("there is a host")
    expect(host.legId, "it is known before it is in").toBe(world.host.legId)
    const { legId } = world.host
    const guest = world.newCall(true)
    world.act({ verb: "join", body: { callId: guest.id, mute: false, hold: false } })
    world.settle()
    world.events.length = 0
    world.act({ verb: "hold", body: { legIds: [legId] } })
    world.act({ verb: "hold", body: { legIds: [legId] } })
    world.settle()
    world.act({ verb: "unhold", body: { legIds: [legId] } })
    world.act({ verb: "supervise", body: { legId: guest.legId, role: "whisper", whisperLegIds: [legId] } })
    world.settle()
    world.act({ verb: "supervise", body: { legId: guest.legId, role: "whisper", whisperLegIds: [legId] } })
    world.act({ verb: "supervise", body: { legId: guest.legId, role: "none" } })
    world.settle()
    expect(
      world.events.map(({ data, type }) =>
        "supervisorRole" in data ? [data.supervisorRole, data.whisperLegIds] : type
      )
    ).toStrictEqual(["conference.member_held", "conference.member_unheld", ["whisper", [legId]], ["none", []]])
    world.events.length = 0
    world.act({ verb: "hold", body: { legIds: [legId] } })
    world.deliverOne(0, false)
    world.crash()
    world.settle()
    expect(types(world)).toStrictEqual(["conference.member_held"])
  })

  it("has place for a sound as soon as a stop is answered, of the whole room or of those who hear it", () => {
    const world = created()
    world.settle()
    const [host] = world.current().members
    if (host === undefined || host.legId === null) return expect.unreachable("there is a host")
    const legIds = [host.legId] as const
    const play = (of: object = {}) =>
      world.act({ verb: "play", body: { url: "https://example.com/a.wav", loop: 1, ...of } })
    const fill = () => {
      let count = 0
      while (play()) count++
      return count
    }
    expect(play({ legIds })).toBe(true)
    expect(fill()).toBe(31)
    world.act({ verb: "stop", body: { legIds } })
    expect(fill()).toBe(1)
    world.act({ verb: "stop", body: {} })
    expect(fill()).toBe(32)
    for (let round = 0; round < 20; round++) {
      world.act({ verb: "stop", body: {} })
      fill()
    }
    expect(world.current().playbacks.length).toBeLessThanOrEqual(96)
  })

  it("lets one go who comes in without a seat, and repairs nothing that it is not told of", () => {
    const world = created()
    world.settle()
    const call = world.newCall(true)
    world.act({ verb: "join", body: { callId: call.id, mute: false, hold: false } })
    world.act({ verb: "remove_member", member: call.id })
    world.settle()
    expect(world.inSwitch()).toHaveLength(1)
    expect(call.isOver).toBe(false)
    world.room()?.members.set(Ids.member("svc_member_stranger"), {
      callId: world.newCall(true).id,
      isMuted: false,
      isHeld: false
    })
    world.settle()
    expect(world.inSwitch()).toContain("svc_member_stranger")
  })
})
