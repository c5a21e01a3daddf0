import { describe, expect, it } from "@effect/vitest"
import { primary } from "../../../src/telephony/call/machine/CallState.ts"
import * as CallMachine from "../../../src/telephony/call/machine/CallMachine.ts"
import * as Reservation from "../../../src/telephony/call/machine/Reservation.ts"
import * as RoomAnswer from "../../../src/telephony/call/machine/room/RoomAnswer.ts"
import type { ToCall, ToConference } from "../../../src/telephony/call/machine/room/RoomTell.ts"
import * as CallVerbs from "../../../src/telephony/call/verb/CallVerbs.ts"
import type { LegReport } from "../../../src/carrier/Carrier.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as WorkPrice from "../../../src/domain/WorkPrice.ts"
import * as Sample from "./CallSample.ts"

/** A call and the room of a conference, guide/calls.md#conferences, in the call's machine. */
const t0 = 1_000_000
const conferenceId = Id.derive("room", "conf")
const [memberId, second] = [Id.derive("seat", "member"), Id.derive("second seat", "member")]
const [otherLeg, otherCall] = [Id.derive("other", "leg"), Id.derive("other", "call")]
const answered: LegReport = { type: "answered", resume: null }

const enter = (fields: Partial<Extract<ToCall, { type: "enter" }>> = {}): ToCall => ({
  type: "enter",
  conferenceId,
  memberId,
  adapter: "test",
  isHost: false,
  isMuted: false,
  isHeld: false,
  ...fields
})
const over = (by: "api" | "system" = "api"): ToCall => ({ type: "over", conferenceId, memberId, by })
const removed: ToCall = { type: "over", conferenceId, memberId, by: "api", isRemoved: true }
const tell = (scene: Sample.Scene, told: ToCall, now: number, reservedMinutes?: ReadonlyArray<number> | null) =>
  Sample.send(scene, { type: "told", tell: told, ...(reservedMinutes === undefined ? {} : { reservedMinutes }) }, now)

const prices = { ...WorkPrice.free, conference: 20_000 }
const talking = (fields: Parameters<typeof Sample.terms>[0] = {}) =>
  Sample.carrier(Sample.start(Sample.place({ terms: Sample.terms(fields) }), t0), answered, t0 + 1000)
const joined = (member = memberId): LegReport => ({ type: "room_joined", conferenceId, memberId: member })
const left = (member = memberId): LegReport => ({ type: "room_left", conferenceId, memberId: member })
const entering = (scene = talking()) => tell(scene, enter(), t0 + 2000)
const inside = (scene = talking()) => Sample.carrier(entering(scene), joined(), t0 + 2100)
const words = (scene: Sample.Scene) => (scene.effects.at(-1)?.commands ?? []).map(({ type }) => type)
const ended = ({ state }: Sample.Scene) => `${state.status} ${state.endReason} ${state.endInitiator}`
const bridges = (scene: Sample.Scene) => Sample.types(scene).filter((type) => type === "call.bridged").length

/** The messages of the call to its conferences, from a replay of its journal. */
const tells = ({ log }: Sample.Scene): ReadonlyArray<string> => {
  let state: Sample.Scene["state"] | null = null
  const told: Array<ToConference> = []
  for (const { context, input } of log) {
    const outcome = CallMachine.step(state, input, context)
    if (outcome.type !== "accepted") throw new Error("what was accepted is accepted again")
    told.push(...RoomAnswer.ofChange(state, outcome.state))
    state = outcome.state
  }
  return told.map(({ memberId: member, type }) => `${type}${member === memberId ? "" : " another"}`)
}

describe("A call that is told to come into a room", () => {
  it("sends its leg there, and is bridged when the carrier says that it is in", () => {
    const scene = tell(talking(), enter({ isHost: true, isMuted: true }), t0 + 2000)
    expect(scene.effects.at(-1)?.commands).toMatchObject([
      { type: "join_room", legId: primary(scene.state).id, conferenceId, memberId, isHost: true, isMuted: true }
    ])
    expect([scene.state.status, bridges(scene), tells(scene)]).toEqual(["answered", 0, ["entered"]])
    const there = Sample.carrier(scene, joined(), t0 + 2100)
    expect([there.state.status, primary(there.state).status, there.state.pending]).toEqual(["bridged", "bridged", []])
    expect(Sample.events(there).at(-1)).toMatchObject({
      type: "call.bridged",
      data: { bridgedCallId: null, bridgedLegId: null, conferenceId, bridgedAt: t0 + 2100 }
    })
    expect(tells(there)).toEqual(["entered"])
  })

  it("and hears it again says the same, and does nothing", () => {
    for (const scene of [entering(), inside()]) {
      const again = tell(scene, enter(), t0 + 3000)
      expect(Sample.last(again)).toBe("unchanged")
      expect(RoomAnswer.of(again.state, enter())).toMatchObject({ type: "entered", memberId })
    }
  })

  it("and has left never takes that seat again", () => {
    const scene = Sample.carrier(inside(), left(), t0 + 3000)
    expect(Sample.last(tell(scene, enter(), t0 + 4000))).toBe("unchanged")
    expect(RoomAnswer.of(scene.state, enter())).toMatchObject({ type: "left" })
  })

  it("refuses what it cannot take: not answered, in a room, ended, without money", () => {
    const ringing = Sample.start(Sample.place(), t0)
    const another = enter({ memberId: second })
    const gone = Sample.act(talking(), "hangup", {}, t0 + 2000)
    for (const [scene, reason] of [
      [ringing, "not_answered"],
      [inside(), "in_another_room"],
      [entering(), "in_another_room"],
      [gone, "gone"]
    ] as const) {
      expect(Sample.last(tell(scene, another, t0 + 3000))).toBe("unchanged")
      expect(RoomAnswer.of(scene.state, another)).toMatchObject({ type: "refused", reason, memberId: second })
    }
    const poor = tell(talking({ prices }), enter(), t0 + 2000, null)
    expect(Sample.last(poor)).toBe("unchanged")
    expect(RoomAnswer.of(poor.state, enter())).toMatchObject({ type: "refused", reason: "balance_insufficient" })
  })

  it("leaves a bridge first: the leg of a transfer is hung up", () => {
    const dialled = Sample.transfer(talking(), {}, t0 + 1100)
    const peer = Sample.transferLeg(dialled)
    const both = Sample.carrier(
      Sample.other(
        Sample.other(dialled, answered, t0 + 1200),
        {
          type: "bridged",
          peerLegId: primary(dialled.state).id,
          peerCallId: dialled.state.id
        },
        t0 + 1300
      ),
      { type: "bridged", peerLegId: peer.id, peerCallId: dialled.state.id },
      t0 + 1300
    )
    expect(both.state.status).toBe("bridged")
    const scene = entering(both)
    expect(words(scene)).toEqual(["hangup", "join_room"])
    expect(scene.state.legs.map(({ bridge, endedAt }) => [bridge, endedAt])).toEqual([
      [null, null],
      [null, t0 + 2000]
    ])
    // A late event, after the end of that leg.
    const late = Sample.carrier(
      Sample.carrier(scene, { type: "unbridged", peerLegId: peer.id, peerEnded: true }, t0 + 2050),
      joined(),
      t0 + 2100
    )
    expect([late.state.status, late.state.room?.phase]).toEqual(["bridged", "in"])
  })

  it("leaves a bridge first: the leg of another call goes its way", () => {
    const both = Sample.carrier(talking(), { type: "bridged", peerLegId: otherLeg, peerCallId: otherCall }, t0 + 1100)
    expect(words(entering(both))).toEqual(["unbridge", "join_room"])
  })

  it("gives up a transfer that is under way", () => {
    const scene = entering(Sample.transfer(talking(), {}, t0 + 1100))
    expect(words(scene)).toEqual(["media", "hangup", "join_room"])
    expect(Sample.events(scene).at(-1)).toMatchObject({
      type: "call.transfer_failed",
      data: { endReason: "cancelled" }
    })
  })

  it.each(["no_such_room", "other_thread", "already_joined"])(
    "that the carrier cannot bring in (%s) goes on by itself, and has left",
    (reason) => {
      const scene = entering()
      const commandId = scene.state.pending[0]?.commandId ?? Id.CommandId.make("")
      const failed = Sample.carrier(scene, { type: "command_failed", commandId, reason }, t0 + 2100)
      expect([failed.state.status, failed.state.room, failed.state.pending]).toEqual(["answered", null, []])
      expect(tells(failed)).toEqual(["entered", "left"])
    }
  )

  it("and of which nobody tells whether it came in is taken out again, however late it comes in", () => {
    const waited = Sample.wait(entering())
    expect(waited.state.at).toBe(t0 + 2000 + 40_000)
    expect([words(waited), tells(waited)]).toEqual([["leave_room"], ["entered", "left"]])
    const late = Sample.carrier(Sample.carrier(waited, joined(), t0 + 50_000), left(), t0 + 50_100)
    expect([late.state.status, late.state.pending, bridges(late)]).toEqual(["answered", [], 0])
  })
})

describe("A call in a room", () => {
  it("goes back to answered, without an event, when it is removed", () => {
    const scene = inside()
    const out = Sample.carrier(scene, left(), t0 + 3000)
    expect([out.state.status, primary(out.state).status, out.state.room]).toEqual(["answered", "answered", null])
    expect(Sample.types(out)).toEqual(Sample.types(scene))
    expect(tells(out)).toEqual(["entered", "left"])
  })

  it("can come into a room again, as another member; what is told of the old one is late", () => {
    const out = Sample.carrier(inside(), left(), t0 + 3000)
    const again = tell(out, enter({ memberId: second }), t0 + 4000)
    const there = Sample.carrier(again, joined(second), t0 + 4100)
    const late = Sample.carrier(there, left(), t0 + 4200)
    expect([late.state.status, late.state.room?.memberId]).toEqual(["bridged", second])
    expect(Sample.last(tell(late, over(), t0 + 4300))).toBe("unchanged")
    expect(tells(late)).toEqual(["entered", "left", "entered another"])
  })

  it("is hung up with its conference, which is told once that it has left", () => {
    for (const [by, initiator] of [
      ["api", "api"],
      ["system", "system"]
    ] as const)
      for (const scene of [entering(), inside()]) {
        const hungUp = tell(scene, over(by), t0 + 3000)
        expect(ended(hungUp)).toBe(`ended conference_ended ${initiator}`)
        expect(words(hungUp)).toEqual(["hangup"])
        expect(tells(hungUp)).toEqual(["entered", "left"])
        expect(Sample.last(tell(hungUp, over(by), t0 + 3100))).toBe("unchanged")
      }
  })

  it("is hung up with it also where the carrier was faster, and took its leg out before", () => {
    const commandId = entering().state.pending[0]?.commandId ?? Id.CommandId.make("")
    for (const out of [
      Sample.carrier(inside(), left(), t0 + 3000),
      Sample.carrier(entering(), { type: "command_failed", commandId, reason: "unknown_room" }, t0 + 3000)
    ]) {
      const hungUp = tell(out, over("api"), t0 + 3001)
      expect([ended(hungUp), tells(hungUp)]).toEqual(["ended conference_ended api", ["entered", "left"]])
    }
  })

  it("goes on without a room that the carrier could not make, whichever of the two says so first", () => {
    const never: ToCall = { type: "over", conferenceId, memberId, by: "system", neverStood: true }
    const commandId = entering().state.pending[0]?.commandId ?? Id.CommandId.make("")
    const unknown: LegReport = { type: "command_failed", commandId, reason: "unknown_room" }
    const last = tell(entering(), never, t0 + 3000)
    const first = tell(Sample.carrier(entering(), unknown, t0 + 3000), never, t0 + 3001)
    for (const scene of [Sample.carrier(last, unknown, t0 + 3001), first]) {
      const { letGo, pending, room, status } = scene.state
      expect({ status, room, letGo, pending }).toEqual({ status: "answered", room: null, letGo: null, pending: [] })
      expect(tells(scene)).toEqual(["entered", "left"])
      expect(Sample.last(tell(scene, over(), t0 + 4000))).toBe("unchanged")
    }
  })

  it("and that is wanted elsewhere since is not hung up with a conference that it left", () => {
    const out = Sample.carrier(inside(), left(), t0 + 3000)
    const elsewhere: LegReport = { type: "bridged", peerLegId: otherLeg, peerCallId: otherCall }
    for (const scene of [
      Sample.transfer(inside(), {}, t0 + 3100),
      Sample.transfer(out, {}, t0 + 3100),
      Sample.act(out, "refer", { sip_address: "sip:a@example.com" }, t0 + 3100),
      Sample.carrier(out, elsewhere, t0 + 3100),
      tell(out, enter({ memberId: second }), t0 + 3100)
    ]) {
      const late = tell(scene, over(), t0 + 3200)
      expect(Sample.last(late)).toBe("unchanged")
      expect(RoomAnswer.of(late.state, over())).toMatchObject({ type: "left" })
    }
  })

  it("has left with its end, whatever ends it", () => {
    const scene = inside()
    const hangup: LegReport = { type: "ended", cause: "hangup", sipStatus: null, by: "far" }
    for (const gone of [
      Sample.act(scene, "hangup", {}, t0 + 3000),
      Sample.carrier(scene, hangup, t0 + 3000),
      Sample.send(scene, { type: "faulted", reason: "overflow" }, t0 + 3000),
      Sample.send(scene, Sample.recovered(scene, "gone", t0 + 2500), t0 + 3000),
      Sample.wait(scene)
    ]) {
      expect(CallMachine.isSettled(gone.state) || gone.state.endedAt !== null).toBe(true)
      expect([gone.state.room, tells(gone)]).toEqual([null, ["entered", "left"]])
      const late = Sample.carrier(gone, left(), t0 + 5_000_000)
      expect(tells(late)).toEqual(["entered", "left"])
    }
  })

  it("leaves it to be transferred", () => {
    const scene = Sample.transfer(inside(), {}, t0 + 3000)
    expect(words(scene)).toEqual(["leave_room", "dial", "media"])
    expect([scene.state.status, scene.state.room, tells(scene)]).toEqual(["answered", null, ["entered", "left"]])
    const out = Sample.carrier(scene, left(), t0 + 3100)
    expect(out.state.pending.map(({ type }) => type)).toEqual(["dial"])
  })

  it("leaves it for a bridge that another call asked for", () => {
    const elsewhere: LegReport = { type: "bridged", peerLegId: otherLeg, peerCallId: otherCall }
    for (const scene of [
      Sample.carrier(Sample.carrier(inside(), left(), t0 + 3000), elsewhere, t0 + 3000),
      Sample.carrier(inside(), elsewhere, t0 + 3000)
    ]) {
      expect([scene.state.status, primary(scene.state).bridge?.legId, scene.state.room]).toEqual([
        "bridged",
        otherLeg,
        null
      ])
      expect([bridges(scene), tells(scene)]).toEqual([2, ["entered", "left"]])
    }
  })

  it("comes in although another call bridged it just before, and is with that one no more", () => {
    const elsewhere: LegReport = { type: "bridged", peerLegId: otherLeg, peerCallId: otherCall }
    const before = Sample.carrier(entering(), elsewhere, t0 + 2050)
    expect([before.state.status, before.state.room?.phase]).toEqual(["bridged", "entering"])
    const parted = Sample.carrier(before, { type: "unbridged", peerLegId: otherLeg, peerEnded: false }, t0 + 2060)
    const there = Sample.carrier(parted, joined(), t0 + 2070)
    expect([there.state.status, primary(there.state).bridge, tells(there)]).toEqual(["bridged", null, ["entered"]])
  })

  it("refuses to be bridged, referred or recorded; while it comes in, to be connected", () => {
    const verbs: ReadonlyArray<readonly [CallVerbs.Built, object]> = [
      ["bridge", { leg_id: otherLeg }],
      ["refer", { sip_address: "sip:a@example.com" }],
      ["start_recording", {}]
    ]
    for (const [verb, body] of verbs)
      expect(Sample.last(Sample.act(inside(), verb, body, t0 + 3000))).toBe("call_not_in_required_state")
    expect(Sample.last(Sample.act(entering(), "refer", { sip_address: "sip:a@example.com" }, t0 + 2010))).toBe(
      "conflict"
    )
    expect(Sample.last(Sample.transfer(entering(), {}, t0 + 2010))).toBe("conflict")
  })

  it("keeps what it does: digits, a gather, and a recording that began before", () => {
    const recorded = Sample.act(talking(), "start_recording", {}, t0 + 1500)
    const gathering = Sample.act(inside(recorded), "gather", { maximum_digits: 4 }, t0 + 2200)
    const pressed = Sample.dtmf(gathering, "5", t0 + 2300)
    expect(Sample.types(pressed).at(-1)).toBe("call.dtmf")
    const out = Sample.carrier(pressed, left(), t0 + 3000)
    expect(out.state.work.map(({ type }) => type)).toEqual(["recording", "gather"])
  })
})

describe("A call that was dialled for a seat", () => {
  const legId = Id.derive("dialled", "leg")
  const dialled = (fields: Parameters<typeof Sample.terms>[0] = {}) =>
    Sample.start(
      Sample.place({
        terms: Sample.terms(fields),
        seat: { conferenceId, memberId, legId, reservedMinutes: 1 }
      }),
      t0
    )

  it("comes in when it is answered, and tells its conference nothing before", () => {
    const scene = dialled()
    expect(primary(scene.state).id).toBe(legId)
    expect([tells(scene), RoomAnswer.of(scene.state, enter())]).toEqual([[], null])
    expect(Sample.last(tell(scene, enter(), t0 + 100))).toBe("unchanged")
    const there = Sample.carrier(scene, answered, t0 + 1000)
    expect([words(there), tells(there)]).toEqual([["join_room"], ["entered"]])
    expect(Sample.carrier(there, joined(), t0 + 1100).state.status).toBe("bridged")
  })

  it("has left when it ends before", () => {
    const busy: LegReport = { type: "ended", cause: "final_response", sipStatus: 486, by: "far" }
    const scene = Sample.carrier(dialled(), busy, t0 + 1000)
    expect([ended(scene), tells(scene)]).toEqual(["failed user_busy callee", ["left"]])
  })

  it("is hung up when its conference is over while it rings, and is not joined by a late answer", () => {
    const scene = tell(dialled(), over(), t0 + 500)
    expect([ended(scene), words(scene), tells(scene)]).toEqual(["ended conference_ended api", ["hangup"], ["left"]])
    const late = Sample.carrier(scene, answered, t0 + 600)
    expect(Sample.commands(late).map(({ type }) => type)).toEqual(["dial", "hangup"])
  })

  it("is cancelled when it is taken out while it rings", () => {
    const scene = tell(dialled(), removed, t0 + 500)
    expect([ended(scene), words(scene), tells(scene)]).toEqual(["ended cancelled api", ["hangup"], ["left"]])
    const late = tell(Sample.carrier(dialled(), answered, t0 + 500), removed, t0 + 600)
    expect(ended(late)).toBe("ended normal_clearing api")
  })

  it("is hung up and billed once when the conference is over as it answers", () => {
    const there = Sample.carrier(dialled({ prices }), answered, t0 + 1000)
    const scene = tell(there, over("system"), t0 + 1100)
    expect([ended(scene), scene.effects.reduce((sum, effects) => sum + Sample.charged(effects), 0)]).toEqual([
      "ended conference_ended system",
      1
    ])
  })

  it("is hung up when it cannot come in", () => {
    const there = Sample.carrier(dialled(), answered, t0 + 1000)
    const commandId = there.state.pending.find(({ type }) => type === "join_room")?.commandId ?? Id.CommandId.make("")
    for (const scene of [
      Sample.carrier(there, { type: "command_failed", commandId, reason: "no_such_room" }, t0 + 1100),
      Sample.wait(there)
    ])
      expect([ended(scene), tells(scene)]).toEqual(["ended carrier_error system", ["entered", "left"]])
    for (const scene of [
      Sample.carrier(there, { type: "command_failed", commandId, reason: "unknown_room" }, t0 + 1100),
      Sample.carrier(there, left(), t0 + 1100)
    ])
      expect([ended(scene), tells(scene)]).toEqual(["ended conference_ended system", ["entered", "left"]])
  })

  it("stays when it leaves the room later", () => {
    const there = Sample.carrier(Sample.carrier(dialled(), answered, t0 + 1000), joined(), t0 + 1100)
    expect(Sample.carrier(there, left(), t0 + 2000).state.status).toBe("answered")
  })
})

describe("Minutes in a room", () => {
  it("are charged by each started minute of each stay, from coming in to leaving", () => {
    const scene = talking({ prices, microUsdPerMinute: 0, reservedMinutes: 60 })
    const first = Sample.carrier(
      Sample.carrier(tell(scene, enter(), t0 + 2000, [60, 5]), joined(), t0 + 10_000),
      left(),
      t0 + 10_000 + 61_000
    )
    const again = Sample.carrier(
      tell(first, enter({ memberId: second }), t0 + 100_000, [60, 5, 5]),
      joined(second),
      t0 + 110_000
    )
    const gone = Sample.act(again, "hangup", {}, t0 + 111_000)
    expect(gone.effects.at(-1)?.charges).toEqual([{ type: "conference_charge", cents: 6 }])
  })

  it("cost nothing when the leg never came in", () => {
    const scene = tell(talking({ prices }), enter(), t0 + 2000, [60, 5])
    const gone = Sample.act(Sample.wait(scene), "hangup", {}, t0 + 60_000)
    expect(gone.effects.at(-1)?.charges.map(({ type }) => type)).toEqual(["call_charge"])
  })

  it("are reserved, given back behind a stay, and end the call that cannot renew them", () => {
    const scene = Sample.carrier(
      tell(talking({ prices, microUsdPerMinute: 0 }), enter(), t0 + 2000, [60, 1]),
      joined(),
      t0 + 3000
    )
    expect(Reservation.live(scene.state)?.reservedCents).toBe(2)
    const due = Sample.wait(Sample.wait(scene))
    const over = Sample.wait(Sample.wait(due))
    expect([ended(over), over.state.endedAt, tells(over)]).toEqual([
      "ended balance_exhausted system",
      t0 + 63_000,
      ["entered", "left"]
    ])
    const out = Sample.carrier(scene, left(), t0 + 4000)
    expect(Reservation.endsAt(out.state)).toBe(null)
  })
})

describe("A call in a room that was rebuilt", () => {
  it("asks again for what pends, where its carrier lives on, and for nothing when nothing does", () => {
    const scene = entering()
    const again = Sample.send(scene, Sample.recovered(scene, "alive", t0 + 3000, 5), t0 + 3000)
    expect(again.effects.at(-1)?.commands).toEqual(scene.effects.at(-1)?.commands)
    const there = inside()
    expect(Sample.last(Sample.send(there, Sample.recovered(there, "alive", t0 + 3000, 5), t0 + 3000))).toBe("unchanged")
  })

  it("comes in again where another life of its carrier has the leg, and is told so once", () => {
    const scene = inside()
    const found = Sample.send(scene, Sample.recovered(scene, "elsewhere", t0 + 3000), t0 + 3000)
    expect(words(found).at(-1)).toBe("join_room")
    const there = Sample.carrier(found, joined(), t0 + 3100)
    expect([there.state.status, there.state.pending, bridges(there), tells(there)]).toEqual([
      "bridged",
      [],
      1,
      ["entered"]
    ])
    const commandId = found.state.pending[0]?.commandId ?? Id.CommandId.make("")
    const failed = Sample.carrier(found, { type: "command_failed", commandId, reason: "no_such_room" }, t0 + 3100)
    expect([failed.state.status, failed.state.room]).toEqual(["answered", null])
  })
})
