import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as CallMachine from "../../src/call/CallMachine.ts"
import * as Reservation from "../../src/call/Reservation.ts"
import type { CallState } from "../../src/call/CallState.ts"
import * as Envelope from "../../src/domain/event/Envelope.ts"
import * as Upgrade from "../../src/call/Upgrade.ts"
import type { WorkId } from "../../src/domain/Id.ts"
import * as Media from "../media/MediaSample.ts"
import * as Ids from "../support/Ids.ts"
import * as SeenEvent from "../support/SeenEvent.ts"
import version1 from "./version1.json" with { type: "json" }
import version2 from "./version2.json" with { type: "json" }

/** Rows that version 1 wrote: a call that plays, sends digits and gathers, and the journals of three whole calls. */
const { live, ...stories } = version1
const liveState = () => Result.getOrThrow(Upgrade.state({ stateVersion: 1, state: live }))

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
        direction: "outbound",
        microUsdPerMinute,
        // To its limit of an hour.
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
    // The first digit came 100 ms after its begin, and the next one may take 5 s.
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
      expect(told).toStrictEqual(events)
      const stored = Upgrade.state({ stateVersion: 1, state: state })
      expect(replayed).toStrictEqual(Result.getOrThrow(stored))
    })
})

describe("What version 2 wrote, before there were reservations", () => {
  const { answered, ringing, stories, talking } = version2
  const read = (state: typeof talking | typeof ringing | typeof answered) =>
    Result.getOrThrow(Upgrade.state({ stateVersion: 2, state }))

  it("a live call reserves by its meters what it was admitted with: its rate to its limit", () => {
    // Five minutes at 1.5 cents.
    expect(Reservation.live(read(talking))).toStrictEqual({ fillsLimit: true, reservedCents: 8, heard: 0 })
    // An hour at 2 cents.
    expect(Reservation.live(read(answered))).toStrictEqual({ fillsLimit: true, reservedCents: 120, heard: 0 })
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
      expect(told).toStrictEqual(events)
      expect(replayed).toStrictEqual(Result.getOrThrow(Upgrade.state({ stateVersion: 2, state })))
    })
})
