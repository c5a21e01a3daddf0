import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { machineVersion, step } from "../../../../src/telephony/call/machine/CallMachine.ts"
import { type CallState, stateVersion } from "../../../../src/telephony/call/machine/CallState.ts"
import * as CallSealing from "../../../../src/telephony/call/stored/CallSealing.ts"
import * as Upgrade from "../../../../src/telephony/call/stored/Upgrade.ts"
import * as Replay from "../../../../src/telephony/call/timeline/Replay.ts"
import type { Json, StoredInput } from "../../../../src/runtime/store/journal/Journal.ts"
import * as CallSample from "../CallSample.ts"

const seal = (plain: string): string => Buffer.from(plain).toString("base64")
const open = (sealed: string): string => Buffer.from(sealed, "base64").toString()
const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as Json

const answered = () =>
  CallSample.carrier(CallSample.start(CallSample.place()), { type: "answered", resume: null }, 1_001_000)

/** The journal of a scene: its inputs, and the state after each. */
const stored = (scene: CallSample.Scene) => {
  let before: CallState | null = null
  return scene.log.map(({ context, input }, index) => {
    const outcome = step(before, input, context)
    if (outcome.type !== "accepted") throw new Error("it was accepted once")
    const { effects, state } = outcome
    const sealed = CallSealing.sealed({ before, context, effects, input, state }, seal)
    before = state
    const row: StoredInput = {
      seq: index + 1,
      at: context.now,
      seed: context.seed,
      machineVersion,
      input: json(sealed.input)
    }
    return { row, state: json(sealed.state), true: json(state), events: effects.events.map(({ type }) => type) }
  })
}

describe("Secrets of a call", () => {
  const url = "https://example.com/welcome.wav?token=s3cret"

  it("stand in no input and no state of its journal", () => {
    let call = answered()
    call = CallSample.act(call, "play", { url }, 1_001_100)
    call = CallSample.act(call, "send_dtmf", { digits: "40w04" }, 1_001_200)
    call = CallSample.act(call, "gather", { minimum_digits: 4 }, 1_001_300)
    for (const digit of "5577") call = CallSample.dtmf(call, digit, 1_002_000)
    const rows = stored(call)
    const last = rows.at(-1)
    expect(last?.true).toMatchObject({ work: [{ media: { url } }, { media: { digits: "40w04" } }, { digits: "5577" }] })
    expect(last?.state).toMatchObject({
      work: [
        { media: { url: { sealed: seal(url), standIn: "https://example.com/welcome.wav?•••" } } },
        { media: { digits: { sealed: seal("40w04"), standIn: "•••••" } } },
        { digits: { sealed: seal("5577"), standIn: "••••" } }
      ]
    })
    expect(rows[3]?.row.input).toMatchObject({
      action: { body: { digits: { sealed: seal("40w04"), standIn: "00w00" } } }
    })
    expect(rows.at(-1)?.row.input).toMatchObject({ event: { event: { digit: { sealed: seal("7"), standIn: "0" } } } })
    expect(JSON.stringify(rows.map(({ row, state }) => [row.input, state]))).not.toMatch(/s3cret|40w04|"[57]+"/)
  })

  it("are there again for a call that goes on, and only for it", () => {
    let call = CallSample.act(answered(), "gather", {}, 1_001_300)
    call = CallSample.dtmf(call, "5", 1_002_000)
    const row = { stateVersion, state: stored(call).at(-1)?.state ?? null }
    expect(Result.getOrThrow(Upgrade.liveState(row, open))).toStrictEqual(call.state)
    expect(Result.getOrThrow(Upgrade.state(row)).work).toMatchObject([{ digits: "•" }])
    // A lost key makes the call unreadable, so that no false digits are ever shown.
    expect(Result.isFailure(Upgrade.liveState(row, () => null))).toBe(true)
  })

  it("cost a call that has none nothing: what is written is what the machine made", () => {
    const call = CallSample.act(
      CallSample.act(answered(), "play", { url: "https://a.test/b.wav" }, 1_002_000),
      "gather",
      {},
      1_003_000
    )
    const { context, input } = call.log.at(-1) ?? { context: { now: 0, seed: "" }, input: CallSample.place() }
    const effects = { events: [], commands: [], rows: [], charges: [], tells: [] }
    const fail = () => expect.unreachable("nothing is to be sealed")
    const sealed = CallSealing.sealed({ before: call.state, context, effects, input, state: call.state }, fail)
    expect(sealed.input).toBe(input)
    expect(sealed.state).toBe(call.state)
  })

  const Key = Schema.Literals("0123456789*#ABCD".split(""))
  it.prop(
    "are not needed to replay: what stands in for them takes the same way",
    {
      options: Schema.Struct({
        minimum_digits: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
        maximum_digits: Schema.Int.check(Schema.isBetween({ minimum: 3, maximum: 5 })),
        terminating_digit: Schema.Literals(["", "#", "5", "*"]),
        valid_digits: Schema.Literals(["0123456789#*", "123", "7", "#*", "90"])
      }),
      keys: Schema.Array(Key).check(Schema.isMaxLength(12)),
      again: Schema.Boolean
    },
    ({ again, keys, options }) => {
      let call = CallSample.act(answered(), "gather", options, 1_001_300)
      for (const [index, key] of keys.entries()) {
        call = CallSample.dtmf(call, key, 1_002_000 + index * 100)
        if (again && index === 5) call = CallSample.act(call, "gather", options, 1_002_550)
      }
      call = CallSample.wait(call)
      const rows = stored(call)
      const steps = Replay.replay(rows.map(({ row }) => row))
      expect(steps.map(({ fault }) => fault)).toStrictEqual(rows.map(() => null))
      expect(steps.map(({ events }) => events.map(({ type }) => type))).toStrictEqual(rows.map(({ events }) => events))
      for (const [index, { state }] of rows.entries())
        expect(Replay.differences(steps[index]?.state ?? null, CallSealing.maskState(state))).toStrictEqual([])
      const complete = steps.flatMap(({ events }) => events.filter(({ type }) => type === "call.gather_complete"))
      const then = CallSample.events(call).filter(({ type }) => type === "call.gather_complete")
      expect(complete.map(({ data }) => data)).toMatchObject(
        then.map(({ data }) => ({ status: (data as { readonly status: string }).status }))
      )
    },
    { arbitrary: { runs: 200 } }
  )
})
