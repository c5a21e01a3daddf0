import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as CallMachine from "../../src/call/CallMachine.ts"
import type { CallState } from "../../src/call/CallState.ts"
import * as Envelope from "../../src/domain/event/Envelope.ts"
import * as Upgrade from "../../src/call/Upgrade.ts"
import type { WorkId } from "../../src/domain/Id.ts"
import * as Media from "../media/MediaSample.ts"
import * as Ids from "../support/Ids.ts"
import * as SeenEvent from "../support/SeenEvent.ts"
import version1 from "./version1.json" with { type: "json" }

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
        direction: "outbound",
        microUsdPerMinute,
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
