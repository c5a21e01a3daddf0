import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import type { CallInput } from "../../../../src/telephony/call/machine/CallInput.ts"
import { type CallState, stateVersion } from "../../../../src/telephony/call/machine/CallState.ts"
import * as Upgrade from "../../../../src/telephony/call/stored/Upgrade.ts"
import * as UnreadableCall from "../../../../src/telephony/call/stored/UnreadableCall.ts"
import * as SeenEvent from "../../../support/SeenEvent.ts"
import * as Sample from "../CallSample.ts"

describe("A call whose stored state cannot be read any more", () => {
  const row = (state: unknown) => ({
    id: Sample.terms().callId,
    kind: "call" as const,
    tenantId: Sample.tenantId,
    partition: 0,
    seq: 4,
    settled: false,
    stateVersion: 99,
    state: state as never
  })
  const recovered = { type: "recovered", snapshot: { incarnation: "another", legs: {} }, lostAt: 2_000_000 } as const

  for (const [what, state] of [
    ["has lost a field", { ...Sample.start(Sample.place()).state, meters: undefined }],
    ["names a time that no date has", { ...Sample.start(Sample.place()).state, answeredAt: 1e308 }],
    ["was answered before all time", { ...Sample.start(Sample.place()).state, answeredAt: -1 }],
    ["has no leg", { ...Sample.start(Sample.place()).state, legs: [] }],
    ["is of another world", { hello: ["there"] }],
    ["is no object", "nothing"]
  ] as const)
    it(`ends cleanly when it ${what}: its event is told, its leg taken down, nothing charged`, () => {
      expect(Result.isFailure(Upgrade.state(row(state)))).toBe(true)
      const rebuilt = UnreadableCall.rebuild(row(state), [])
      const outcome = CallMachine.step(rebuilt, recovered, { now: 2_000_000, seed: "s" })
      expect.assert(outcome.type === "accepted")
      SeenEvent.check(outcome.effects.events)
      expect(outcome.effects.events.map((event) => event.type)).toStrictEqual(["call.ended"])
      expect(outcome.effects.commands.map((command) => command.type)).toStrictEqual(["hangup"])
      expect(outcome.effects.charges).toStrictEqual([])
      expect(outcome.state.seq).toBe(5)
      expect(Result.isSuccess(Upgrade.state(row(outcome.state)))).toBe(true)
    })
})

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }
type Path = ReadonlyArray<string>

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value))

const pathsOf = (value: Json): ReadonlyArray<Path> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]): ReadonlyArray<Path> => [
        [name],
        ...pathsOf(inner).map((path) => [name, ...path])
      ])

/** The same value with another one at the path; undefined: without it. */
const damaged = (value: Json, [name, ...rest]: Path, by: Json | undefined): Json => {
  if (name === undefined || typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).flatMap(([each, inner]): ReadonlyArray<readonly [string, Json]> => {
    if (each !== name) return [[each, inner]]
    if (rest.length > 0) return [[each, damaged(inner, rest, by)]]
    return by === undefined ? [] : [[each, by]]
  })
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}

const t0 = 1_000_000
const scenes = (() => {
  const placed = Sample.start(Sample.place(), t0)
  const ringing = Sample.carrier(placed, { type: "ringing", resume: { tag: 1 } }, t0 + 10)
  const answered = Sample.carrier(ringing, { type: "answered", resume: { tag: 2 } }, t0 + 100)
  const playing = Sample.act(answered, "play", { url: "https://a.example/" }, t0 + 200)
  const busy = Sample.act(Sample.act(playing, "gather", {}, t0 + 210), "send_dtmf", { digits: "1" }, t0 + 220)
  const offered = Sample.start(Sample.offered(), t0)
  const caller = {
    callerName: "Ada",
    diversion: [{ number: "+12025550160", reason: "user_busy" as const }],
    attestation: "A" as const
  }
  const answering = Sample.act(offered, "answer", {}, t0 + 50)
  return {
    "was dialled": placed,
    rings: ringing,
    "is answered and busy": busy,
    "was offered": offered,
    "was offered with all that is known of its caller": Sample.start({ ...Sample.offered(), caller } as CallInput, t0),
    "is being answered": answering,
    "came in and is answered": Sample.carrier(answering, { type: "answered", resume: { tag: 3 } }, t0 + 90),
    "has ended and whose BYE is not answered": Sample.act(busy, "hangup", {}, t0 + 5000),
    "was rejected": Sample.act(offered, "reject", { cause: "user_busy" }, t0 + 60)
  }
})()

describe("A stored state that is damaged in any one place", () => {
  const rowOf = (state: Json) => ({
    id: Sample.terms().callId,
    kind: "call" as const,
    tenantId: Sample.tenantId,
    partition: 0,
    seq: 9,
    settled: false,
    stateVersion,
    state
  })
  const recover = (state: CallState) => {
    const recovered = {
      type: "recovered",
      snapshot: { incarnation: "next life", legs: {} },
      lostAt: t0 + 100_000
    } as const
    const outcome = CallMachine.step(state, recovered, { now: t0 + 200_000, seed: "s" })
    expect.assert(outcome.type === "accepted")
    return { adapter: state.adapter, ...outcome }
  }
  const unreadable = (state: Json) =>
    pathsOf(state)
      .flatMap((path) =>
        [undefined, null, "x", 7, [], {}].map((by) => ({ path, by, row: rowOf(damaged(state, path, by)) }))
      )
      .filter(({ row }) => Result.isFailure(Upgrade.state(row)))

  for (const [what, { log, state }] of Object.entries(scenes)) {
    it(`of a call that ${what}: its journal tells what was lost, to the command, the event and the cent`, () => {
      const inputs = log.map(({ context, input }, index) => ({
        seq: index + 1,
        at: context.now,
        seed: context.seed,
        machineVersion: CallMachine.machineVersion,
        input: json(input)
      }))
      const { adapter, effects } = recover(state)
      const places = unreadable(json(state))
      expect(places.length).toBeGreaterThan(100)
      for (const { by, path, row } of places) {
        const rebuilt = recover(UnreadableCall.rebuild(row, inputs))
        expect({ by, path, adapter, effects }).toStrictEqual({
          by,
          path,
          adapter: rebuilt.adapter,
          effects: rebuilt.effects
        })
      }
    })

    it(`of a call that ${what}: it comes to its end without a journal, too`, () => {
      const whole = recover(state).effects
      for (const { by, path, row } of unreadable(json(state))) {
        const what = `${path.join(".")} ${JSON.stringify(by)}`
        const { effects, state: ended } = recover(UnreadableCall.rebuild(row, []))
        SeenEvent.check(effects.events)
        expect(effects.commands[0]?.type, what).toBe(whole.commands[0]?.type)
        // Both the call and its leg have this time.
        if (path.includes("answeredAt")) expect(effects.charges, what).toStrictEqual(whole.charges)
        let last = ended
        for (let next = CallMachine.nextDeadline(last); next !== null; next = CallMachine.nextDeadline(last)) {
          const outcome = CallMachine.step(last, next.input, { now: next.at, seed: "t" })
          expect.assert(outcome.type === "accepted", what)
          last = outcome.state
        }
        expect.assert(CallMachine.isSettled(last), what)
      }
    })
  }

  it("of a call that has ended: a leg that is gone is asked nothing", () => {
    const { state } = Sample.carrier(
      scenes["has ended and whose BYE is not answered"],
      { type: "ended", cause: "hangup", sipStatus: null, by: "near" },
      t0 + 6000
    )
    const rebuilt = UnreadableCall.rebuild(rowOf(damaged(json(state), ["direction"], null)), [])
    expect(CallMachine.isSettled(rebuilt)).toBe(true)
  })
})
