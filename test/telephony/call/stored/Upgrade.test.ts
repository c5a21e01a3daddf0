import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import * as Reservation from "../../../../src/telephony/call/machine/Reservation.ts"
import { type CallState, primary } from "../../../../src/telephony/call/machine/CallState.ts"
import * as Envelope from "../../../../src/domain/event/Envelope.ts"
import * as CallSealing from "../../../../src/telephony/call/stored/CallSealing.ts"
import * as Upgrade from "../../../../src/telephony/call/stored/Upgrade.ts"
import type { WorkId } from "../../../../src/domain/Id.ts"
import * as Id from "../../../../src/domain/Id.ts"
import * as CallVerbs from "../../../../src/telephony/call/verb/CallVerbs.ts"
import * as WorkPrice from "../../../../src/domain/WorkPrice.ts"
import * as Replay from "../../../../src/telephony/call/timeline/Replay.ts"
import * as Media from "../../../media/MediaSample.ts"
import * as Ids from "../../../support/Ids.ts"
import * as SeenEvent from "../../../support/SeenEvent.ts"
import version1 from "../version1.json" with { type: "json" }
import version2 from "../version2.json" with { type: "json" }
import version3 from "../version3.json" with { type: "json" }
import version4 from "../version4.json" with { type: "json" }

/** Rows of version 1: a call that plays, sends digits and gathers, and the journals of three whole calls. */
const { live, ...stories } = version1
const liveState = () => Result.getOrThrow(Upgrade.state({ stateVersion: 1, state: live }))

/** Versions before 4 did not store the SIP status of a leg's end, and a gather without a prompt cut nothing off. */
const asThen = (state: CallState | null) =>
  state === null
    ? null
    : {
        ...state,
        legs: state.legs.map((leg) => ({ ...leg, sipStatus: null })),
        work: state.work.map((item) => (item.type === "gather" ? { ...item, media: null } : item))
      }

describe("What version 1 wrote", () => {
  it("is read as a state whose playbacks, digits and gather are work that goes on", () => {
    const state = liveState()
    expect(state.work.map(({ type }) => type)).toStrictEqual(["playback", "digits", "gather"])
    expect(state.pending).toStrictEqual([])
    expect(state.work.every(({ legId }) => legId === state.legs[0]?.id)).toBe(true)
  })

  it("is charged by the meter of its leg, at the rate it was admitted with; ring time and limit are its leg's", () => {
    const { legs, meters, told } = liveState()
    const { answeredAt, limit, microUsdPerMinute, timeoutSecs } = live
    expect(meters).toStrictEqual([
      {
        kind: "leg",
        legId: legs[0]?.id ?? Ids.leg(""),
        workId: null,
        pausedAt: null,
        direction: "outbound",
        microUsdPerMinute,
        // Reserved to its limit of an hour.
        reservedMinutes: 60,
        startedAt: answeredAt,
        endedAt: null
      }
    ])
    expect([legs[0]?.limit, legs[0]?.ringSecs, told]).toStrictEqual([limit, timeoutSecs, 0])
  })

  it("goes on: each piece of its work ends with its event, known by the ids of then", () => {
    const [playback, digits, gather] = liveState().work
    const legId = liveState().legs[0]?.id ?? Ids.leg("")
    const ended = (id: WorkId) =>
      CallMachine.step(
        liveState(),
        {
          type: "carrier",
          event: { legId, at: 1_003_000, incarnation: "i", n: 1, type: "media", event: Media.completed(id) }
        },
        { now: 1_003_000, seed: "s" }
      )
    const played = ended(playback?.id ?? Ids.work(""))
    expect.assert(played.type === "accepted")
    SeenEvent.check(played.effects.events)
    const [event] = played.effects.events
    expect.assert(event?.type === "call.playback_ended")
    expect(event.data.playbackId).toBe(live.pending.find(({ type }) => type === "play")?.playbackId)
    expect(ended(digits?.id ?? Ids.work("")).type).toBe("accepted")
    expect(gather?.type).toBe("gather")
    // The first digit came 100 ms after the beginning, and the next one may take 5 s.
    expect(CallMachine.nextDeadline(liveState())?.at).toBe(1_002_200 + 5_000)
  })

  for (const [name, { events, inputs, state }] of Object.entries(stories))
    it(`can be played again: the journal of an ${name} call gives the state and the events of then`, () => {
      let replayed: CallState | null = null
      const told: Array<unknown> = []
      for (const { at, input, machineVersion, seed } of inputs) {
        const outcome = CallMachine.step(replayed, Upgrade.input({ at, machineVersion, input }), {
          now: at,
          seed
        })
        expect.assert(outcome.type === "accepted", `${JSON.stringify(input)} is ${outcome.type} now`)
        replayed = outcome.state
        told.push(...outcome.effects.events.map((event) => ({ type: event.type, data: Envelope.dataOf(event) })))
      }
      // Later versions report more.
      expect(told).toMatchObject(events)
      const stored = Upgrade.state({ stateVersion: 1, state: state })
      expect(asThen(replayed)).toStrictEqual(Result.getOrThrow(stored))
    })
})

describe("What version 2 wrote, before there were reservations", () => {
  const { answered, ringing, stories, talking } = version2
  const read = (state: typeof talking | typeof ringing | typeof answered) =>
    Result.getOrThrow(Upgrade.state({ stateVersion: 2, state }))

  it("a live call reserves by its meters what it was admitted with: its rate to its limit", () => {
    // Five minutes at 1.5 cents.
    expect(Reservation.live(read(talking))).toStrictEqual({ places: 1, reservedCents: 8, heard: 0 })
    // An hour at 2 cents.
    expect(Reservation.live(read(answered))).toStrictEqual({ places: 1, reservedCents: 120, heard: 0 })
  })

  it("a live call ends at its limit as it would have, without asking for more", () => {
    const state = read(talking)
    expect(Reservation.renewsAt(state)).toBe(null)
    expect(CallMachine.nextDeadline(state)).toStrictEqual({
      at: 1_001_000 + 300_000,
      input: { type: "deadline", deadline: "limit" }
    })
  })

  it("an inbound call that rings reserves nothing and fills no limit", () =>
    expect(Reservation.live(read(ringing))).toBe(null))

  for (const [name, { events, inputs, state }] of Object.entries(stories))
    it(`can be played again: the journal of a call that is ${name} gives the state and the events of then`, () => {
      let replayed: CallState | null = null
      const told: Array<unknown> = []
      for (const { at, input, machineVersion, seed } of inputs) {
        const outcome = CallMachine.step(replayed, Upgrade.input({ at, machineVersion, input }), { now: at, seed })
        expect.assert(outcome.type === "accepted", `${JSON.stringify(input)} is ${outcome.type} now`)
        replayed = outcome.state
        told.push(...outcome.effects.events.map((event) => ({ type: event.type, data: Envelope.dataOf(event) })))
      }
      // Later versions report more.
      expect(told).toMatchObject(events)
      expect(asThen(replayed)).toStrictEqual(Result.getOrThrow(Upgrade.state({ stateVersion: 2, state })))
    })
})

/** Rows of the journal and of calls, from the database of a service of version 3. */
describe("What version 3 wrote, when a call had one leg", () => {
  const read = (name: keyof typeof version3) =>
    Result.getOrThrow(Upgrade.state({ stateVersion: 3, state: version3[name].state }))

  it("is read as a leg that is bridged with none, and work and charges are those of then", () => {
    const state = read("talking")
    expect(primary(state)).toMatchObject({ bridge: null, status: "answered", sipStatus: null, quality: null })
    expect(state.prices).toStrictEqual(WorkPrice.free)
    expect(state.meters).toMatchObject([{ kind: "leg", workId: null, pausedAt: null }])
    expect(state.work.map(({ type }) => type)).toStrictEqual(["playback", "playback", "digits", "gather"])
    expect(state.work[0]?.media).toMatchObject({ type: "play", target: "self" })
  })

  it("a dial that was under way is sent again as it was", () => {
    const state = read("ringing")
    const [dial] = state.pending
    expect(dial).toMatchObject({ type: "dial", options: {} })
    const { id, incarnation } = primary(state)
    const outcome = CallMachine.step(
      state,
      {
        type: "recovered",
        lostAt: state.at,
        snapshot: {
          incarnation: incarnation ?? "",
          legs: { [id]: { state: "alerting", n: 2, ageMs: 0, answeredMs: null } }
        }
      },
      { now: state.at, seed: "s" }
    )
    expect.assert(outcome.type === "accepted")
    expect(outcome.effects.commands).toMatchObject([{ type: "dial", commandId: dial?.commandId, to: state.to }])
  })

  it("a hang-up that was under way is given up at its deadline", () => {
    const state = read("hanging up")
    const due = CallMachine.nextDeadline(state)
    expect.assert(due !== null)
    const outcome = CallMachine.step(state, due.input, { now: due.at, seed: "s" })
    expect(outcome.type === "accepted" && CallMachine.isSettled(outcome.state)).toBe(true)
  })

  for (const [name, { events, inputs, state }] of Object.entries(version3))
    it(`can be played again: the journal of a call that is ${name} gives the state and the events of then`, () => {
      const steps = Replay.replay(inputs)
      expect(steps.map(({ fault }) => fault)).toStrictEqual(inputs.map(() => null))
      expect(steps.flatMap(({ events: told }) => told.map(({ type }) => type))).toStrictEqual(
        events.map(({ type }) => type)
      )
      const stored = Result.getOrThrow(Upgrade.state({ stateVersion: 3, state }))
      expect(Replay.differences(asThen(steps.at(-1)?.state ?? null), CallSealing.maskState(stored))).toStrictEqual([])
    })
})

/** Rows of a service of version 4, like those of version 3. */
describe("What version 4 wrote, when there were no conferences", () => {
  const read = (name: keyof typeof version4) =>
    Result.getOrThrow(Upgrade.state({ stateVersion: 4, state: version4[name].state }))

  it("is read as a call in no room, which may come into one for nothing", () => {
    const state = read("talking")
    expect([state.room, state.prices.conference]).toStrictEqual([null, 0])
    const [conferenceId, memberId] = [Id.derive("room", "conf"), Id.derive("seat", "member")]
    const seat = { conferenceId, memberId, adapter: "simulator", isHost: false, isMuted: false, isHeld: false }
    const outcome = CallMachine.step(
      state,
      { type: "told", tell: { type: "enter", ...seat } },
      { now: state.at, seed: "s" }
    )
    expect.assert(outcome.type === "accepted")
    expect(outcome.effects.commands).toMatchObject([{ type: "join_room", conferenceId, memberId }])
  })

  it("a bridge that stood then stands, and its other leg ends with it", () => {
    const state = read("bridged")
    expect([state.status, state.legs.length]).toStrictEqual(["bridged", 2])
    const action = CallVerbs.decodeAction("hangup", {})
    const outcome = CallMachine.step(state, { type: "action", action }, { now: state.at + 1_000, seed: "s" })
    expect.assert(outcome.type === "accepted")
    expect(outcome.effects.commands.map(({ type }) => type)).toStrictEqual(["hangup", "hangup"])
  })

  for (const [name, { events, inputs, state }] of Object.entries(version4))
    it(`can be played again: the journal of a call that is ${name} gives the state and the events of then`, () => {
      const steps = Replay.replay(inputs)
      expect(steps.map(({ fault }) => fault)).toStrictEqual(inputs.map(() => null))
      expect(steps.flatMap(({ events: told }) => told.map(({ type }) => type))).toStrictEqual(
        events.map(({ type }) => type)
      )
      const stored = Result.getOrThrow(Upgrade.state({ stateVersion: 4, state }))
      expect(Replay.differences(steps.at(-1)?.state ?? null, CallSealing.maskState(stored))).toStrictEqual([])
    })
})
