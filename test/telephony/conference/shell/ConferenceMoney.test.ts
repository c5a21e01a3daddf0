import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as TestClock from "effect/testing/TestClock"
import * as ConferenceMoney from "../../../../src/telephony/conference/shell/ConferenceMoney.ts"
import type { ConferenceInput } from "../../../../src/telephony/conference/machine/ConferenceInput.ts"
import * as ConferenceMachine from "../../../../src/telephony/conference/machine/ConferenceMachine.ts"
import type { ConferenceState } from "../../../../src/telephony/conference/machine/ConferenceState.ts"
import { ApiError } from "../../../../src/domain/ApiError.ts"
import { act, created, minuteMs, t0 } from "../RecordedRoom.ts"

/** The exchange between a conference and its account about recordings, with answers that the test sets. */
const poor = ApiError.of("balance_insufficient", "poor")

const world = (answer: "all" | "never" | typeof poor, microUsdPerMinute = 20_000) => {
  const said: Array<string> = []
  const money = ConferenceMoney.make({
    prices: Effect.succeed({
      recording: microUsdPerMinute,
      transcription: 0,
      machine_detection: 0,
      conference: 0
    }),
    accounts: {
      reserve: (_tenant, _id, { offers, places, purpose }) => {
        said.push(`reserve ${purpose} ${offers.join()} ${places}`)
        return answer === "never"
          ? Effect.never
          : answer === "all"
            ? Effect.succeed({ partition: 0, reservedCents: offers.at(-1) ?? 0 })
            : Effect.fail(answer)
      },
      began: () => Effect.sync(() => void said.push("began")),
      abandoned: () => Effect.sync(() => void said.push("abandoned")),
      holds: (_tenant, _id, { places, reservedCents }) =>
        Effect.sync(() => void said.push(`holds ${reservedCents} ${places}`)),
      told: (_tenant, { body, n }) => Effect.sync(() => void said.push(`told ${n} ${body.type} ${body.chargedCents}`))
    }
  })
  return { money, said }
}

const start: ConferenceInput = {
  type: "action",
  mostParticipants: null,
  action: { verb: "record_start", body: { format: "wav", channels: "single", hasBeep: false } }
}
const renewal: ConferenceInput = { type: "renewal", reservedMinutes: null }

const prepared = ({ money }: ReturnType<typeof world>, state: ConferenceState, input: ConferenceInput, now: number) => {
  const asking = money.prepare(state, input, now)
  return asking === null ? Effect.succeed(null) : Effect.map(asking, (given) => given.input)
}

/** The step that an input makes, as the shell gets it after its commit. */
const stepOf = (before: ConferenceState, input: ConferenceInput, now: number) => {
  const context = { now, seed: "0".repeat(32) }
  const outcome = ConferenceMachine.step(before, input, context)
  expect.assert(outcome.type === "accepted")
  return { before, input, context, state: outcome.state, effects: outcome.effects }
}

describe("The money of a room's recordings", () => {
  it.effect("is reserved before one begins, at what it costs then", () =>
    Effect.gen(function* () {
      const of = world("all")
      expect(yield* prepared(of, created().state, start, t0 + 1000)).toMatchObject({
        recording: { microUsdPerMinute: 20_000, reservedMinutes: [1] }
      })
      expect(of.said).toEqual(["reserve renewal 2 0"])
    })
  )

  it.effect("is asked of nobody where a recording is free, or is refused by the room", () =>
    Effect.gen(function* () {
      const free = world("never", 0)
      expect(yield* prepared(free, created().state, start, t0 + 1000)).toMatchObject({
        recording: { microUsdPerMinute: 0 }
      })
      const second = world("never")
      const recorded = act(created(), "record_start", t0 + 1000).state
      expect(yield* prepared(second, recorded, start, t0 + 2000)).toBe(null)
      expect([free.said, second.said]).toEqual([[], []])
    })
  )

  it.effect("that an account refuses begins nothing, with the account's own code", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(prepared(world(poor), created().state, start, t0 + 1000))).toEqual(poor)
    })
  )

  it.effect("of an account that does not answer in time is a 503, and what it may still reserve is given back", () =>
    Effect.gen(function* () {
      const of = world("never")
      const asking = yield* Effect.forkChild(Effect.flip(prepared(of, created().state, start, t0 + 1000)))
      yield* TestClock.adjust("2 seconds")
      expect((yield* Fiber.join(asking)).code).toBe("service_unavailable")
      expect(of.said).toEqual(["reserve renewal 2 0", "abandoned"])

      // An earlier recording is not paid for yet.
      const stopped = act(act(created(), "record_start", t0 + 1000), "record_stop", t0 + 2000).state
      const again = world("never")
      const waiting = yield* Effect.forkChild(Effect.flip(prepared(again, stopped, start, t0 + 3000)))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(waiting)
      expect(again.said).toEqual(["reserve renewal 4 0", "holds 2 0"])
    })
  )

  it.effect("is renewed when it is due, and not before; a refusal and silence are the same", () =>
    Effect.gen(function* () {
      const { state } = act(created(), "record_start", t0 + 1000)
      const due = t0 + 1000 + minuteMs - 15_000
      expect(yield* prepared(world("never"), state, renewal, due - 1)).toBe(null)
      expect(yield* prepared(world("all"), state, renewal, due)).toEqual({ type: "renewal", reservedMinutes: [6] })
      expect(yield* prepared(world(poor), state, renewal, due)).toEqual(renewal)
      const silent = yield* Effect.forkChild(prepared(world("never"), state, renewal, due))
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(silent)).toEqual(renewal)
    })
  )

  it.effect("is held by the row behind the commit, told with the end, and given back where no commit was written", () =>
    Effect.gen(function* () {
      const idle = created().state
      const given: ConferenceInput = {
        ...start,
        recording: { microUsdPerMinute: 20_000, reservedMinutes: [1] }
      }
      const of = world("all")
      const started = stepOf(idle, given, t0 + 1000)
      yield* of.money.withdrawn(started)
      yield* of.money.stored(started)
      expect(of.said.splice(0)).toEqual(["abandoned", "holds 2 0"])
      const renewed = stepOf(started.state, { type: "renewal", reservedMinutes: [3] }, t0 + minuteMs)
      yield* of.money.withdrawn(renewed)
      yield* of.money.stored(renewed)
      expect(of.said.splice(0)).toEqual(["holds 2 0", "holds 6 0"])
      const end: ConferenceInput = { type: "action", mostParticipants: null, action: { verb: "end", body: {} } }
      const over = stepOf(renewed.state, end, t0 + 1000 + minuteMs + 1)
      yield* of.money.withdrawn(over)
      yield* of.money.stored(over)
      expect(of.said).toEqual(["told 1 ended 4"])
    })
  )

  it.effect("is told again behind a refused renewal: what came too late may be reserved, and is used by nobody", () =>
    Effect.gen(function* () {
      const of = world("all")
      const { state } = act(created(), "record_start", t0 + 1000)
      yield* of.money.stored(stepOf(state, renewal, t0 + 46_000))
      expect(of.said).toEqual(["holds 2 0"])
    })
  )

  it.effect("that ran out while nothing could be committed is renewed before whatever comes next", () =>
    Effect.gen(function* () {
      const { state } = act(created(), "record_start", t0 + 1000)
      const end: ConferenceInput = { type: "action", mostParticipants: null, action: { verb: "end", body: {} } }
      const { money } = world("all")
      expect(money.prepare(state, end, t0 + minuteMs)).toBe(null)
      const late = money.prepare(state, end, t0 + 4 * minuteMs)
      expect.assert(late !== null)
      expect(yield* late).toEqual({ first: [{ type: "renewal", reservedMinutes: [9] }], input: end })
    })
  )

  it("is read again out of a row, with what is in flight beside it", () => {
    const { money } = world("all")
    const row = (state: ConferenceState) => ({ state: JSON.parse(JSON.stringify(state)), stateVersion: 1 })
    const inFlight = { places: 0, reservedCents: 9, heard: 0 }
    const recorded = act(created(), "record_start", t0 + 1000)
    expect(money.reader(row(created().state), null)).toBe(null)
    expect(money.reader(row(created().state), inFlight)).toEqual(inFlight)
    expect(money.reader(row(recorded.state), null)).toEqual({ places: 0, reservedCents: 2, heard: 0 })
    expect(money.reader(row(recorded.state), inFlight)).toEqual(inFlight)
    expect(money.reader(row(act(recorded, "end", t0 + 2000).state), inFlight)).toBe(null)
  })
})
