import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Rules from "../../../../../src/telephony/call/verb/gather/GatherRules.ts"
import * as Ids from "../../../../support/Ids.ts"

const options: Rules.Options = {
  minimumDigits: 2,
  maximumDigits: 4,
  terminatingDigit: "#",
  validDigits: "0123456789",
  timeoutMs: 10_000,
  interDigitTimeoutMs: 2_000,
  initialTimeoutMs: 5_000
}
const url = (name: string) => ({ type: "url", url: `https://a/${name}.wav` }) as const

const start = (
  of: { readonly options?: Partial<Rules.Options>; readonly invalid?: boolean; readonly maximumTries?: number } = {}
) =>
  Rules.start<Rules.Gather>(
    {
      id: Ids.work("g"),
      options: { ...options, ...of.options },
      digits: "",
      startedAt: 0,
      lastDigitAt: null,
      prompts: {
        prompt: url("prompt"),
        invalid: of.invalid === true ? url("invalid") : null,
        maximumTries: of.maximumTries ?? 3,
        tried: 1,
        playing: null
      }
    },
    0
  )

/** The reactions in words: `>` the prompt that begins, `x` one that is cut off, `=` the outcome. */
const tell = (
  first: Rules.Outcome<Rules.Gather>,
  inputs: ReadonlyArray<readonly [at: number, input: Rules.Input | string]>
): ReadonlyArray<string> => {
  const told: Array<string> = []
  let outcome = first
  const note = () => {
    if (outcome.cut !== null) told.push("x")
    if (outcome.asks?.type === "prompt")
      told.push(`> ${outcome.asks.sound.type === "url" ? (/(\w+)\.wav/.exec(outcome.asks.sound.url)?.[1] ?? "") : ""}`)
    if (outcome.complete !== null) told.push(`= ${outcome.complete.status} ${outcome.complete.digits}`.trim())
  }
  note()
  for (const [at, input] of inputs) {
    if (outcome.gather === null) break
    outcome = Rules.step(outcome.gather, typeof input === "string" ? { type: "digit", digit: input } : input, at)
    note()
  }
  return told
}
const ended = { type: "prompt_ended", status: "completed" } as const
const due = { type: "due" } as const

describe("a gather with a prompt", () => {
  it("collects after its prompt", () => {
    expect(
      tell(start(), [
        [3000, ended],
        [4000, "1"],
        [4500, "2"],
        [5000, "#"]
      ])
    ).toStrictEqual(["> prompt", "= valid 12"])
  })

  it("is interrupted by the first digit, which counts", () => {
    expect(
      tell(start(), [
        [100, "1"],
        [200, "2"],
        [300, "3"],
        [400, "4"]
      ])
    ).toStrictEqual(["> prompt", "x", "= valid 1234"])
  })

  it("is interrupted by no digit that is not asked for", () => {
    const { asks } = start({ options: { validDigits: "12" } })
    expect(asks).toMatchObject({ type: "prompt", stoppedBy: "12#" })
    expect(
      tell(start({ options: { validDigits: "12" } }), [
        [100, "9"],
        [200, "A"]
      ])
    ).toStrictEqual(["> prompt"])
  })

  it("lets its timers run from the end of the prompt, in each try", () => {
    const first = start()
    expect(Rules.dueAt(first.gather)).toBeGreaterThan(30 * 60_000)
    const listens = Rules.step<Rules.Gather>(first.gather, ended, 7000).gather
    expect(listens === null ? 0 : Rules.dueAt(listens)).toBe(12_000)
    const pressed = listens === null ? null : Rules.step(listens, { type: "digit", digit: "1" }, 8000).gather
    expect(pressed === null ? 0 : Rules.dueAt(pressed)).toBe(10_000)
    const again = pressed === null ? null : Rules.step(pressed, due, 10_000).gather
    expect(again).toMatchObject({ digits: "", prompts: { tried: 2, playing: { what: "prompt", since: 10_000 } } })
  })

  it("plays its prompt as often as it may, to who is silent, and ends with a timeout", () => {
    const silence = [1, 2, 3].flatMap((n) => [[n * 10_000, ended] as const, [n * 10_000 + 5000, due] as const])
    expect(tell(start({ invalid: true }), silence)).toStrictEqual(["> prompt", "> prompt", "> prompt", "= timeout"])
  })

  it("says that digits were wrong before it asks again, and not after the last try", () => {
    expect(
      tell(start({ invalid: true, maximumTries: 2 }), [
        [1000, ended],
        [1100, "1"],
        [1200, "#"],
        [2000, ended],
        [3000, ended],
        [3100, "#"]
      ])
    ).toStrictEqual(["> prompt", "> invalid", "> prompt", "= invalid"])
  })

  it("says so at a digit outside of those that are valid, where it has words for it", () => {
    expect(tell(start({ invalid: true, options: { validDigits: "12" } }), [[100, "9"]])).toStrictEqual([
      "> prompt",
      "> invalid"
    ])
  })

  it("listens at once where somebody presses a digit while it says that the one before was wrong", () => {
    expect(
      tell(start({ invalid: true }), [
        [100, "#"],
        [200, "1"],
        [300, "2"],
        [400, "#"]
      ])
    ).toStrictEqual(["> prompt", "> invalid", "x", "= valid 12"])
  })

  it("goes on without a prompt that fails, or is stopped", () => {
    for (const status of ["failed", "stopped"] as const)
      expect(
        tell(start(), [
          [50, { type: "prompt_ended", status }],
          [5050, due],
          [5060, ended],
          [10_060, due]
        ])
      ).toStrictEqual(["> prompt", "> prompt"].concat("> prompt"))
    expect(
      tell(start({ invalid: true }), [
        [100, "#"],
        [200, { type: "prompt_ended", status: "failed" }]
      ])
    ).toStrictEqual(["> prompt", "> invalid", "> prompt"])
  })

  it("listens from a restart on, and from the moment at which a prompt can only have been lost", () => {
    const { gather } = start()
    const restarted = Rules.step<Rules.Gather>(gather, { type: "restarted" }, 400)
    expect(restarted).toMatchObject({ gather: { startedAt: 400, prompts: { playing: null } }, asks: null })
    expect(tell(start(), [[Rules.dueAt(gather), due]])).toStrictEqual(["> prompt", "x"])
  })

  const Happening = Schema.Union([
    Schema.Literals("0123456789*#".split("")),
    Schema.Struct({ type: Schema.tag("due") }),
    Schema.Struct({ type: Schema.tag("restarted") }),
    Schema.Struct({ type: Schema.tag("prompt_ended"), status: Schema.Literals(["completed", "stopped", "failed"]) })
  ])

  it.prop(
    "completes at most once, within its tries, and never waits without a deadline, whatever happens in whatever order",
    {
      happenings: Schema.Array(
        Schema.Tuple([Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9000 })), Happening])
      ),
      invalid: Schema.Boolean,
      tries: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 })),
      minimum: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
    },
    ({ happenings, invalid, minimum, tries }) => {
      let outcome: Rules.Outcome<Rules.Gather> = start({
        invalid,
        maximumTries: tries,
        options: { minimumDigits: minimum }
      })
      const heard = new Set<string>()
      let prompts = 0
      let now = 0
      const check = () => {
        const { asks, complete, cut, gather } = outcome
        expect(gather === null).toBe(complete !== null)
        if (asks?.type === "prompt") {
          // Each sound has an id of its own, so a late end of one never ends another.
          expect(heard.has(asks.id)).toBe(false)
          heard.add(asks.id)
          if (asks.sound.type === "url" && asks.sound.url.includes("prompt")) prompts++
          expect(gather?.prompts?.playing?.id).toBe(asks.id)
        }
        if (cut !== null) expect(gather?.prompts?.playing ?? null).toBe(null)
        if (gather !== null) expect(Rules.dueAt(gather)).toBeGreaterThan(now)
        if (complete?.status === "valid") expect(complete.digits.length).toBeGreaterThanOrEqual(minimum)
        if (complete !== null && complete.status !== "valid") expect(complete.digits.length).toBeLessThan(minimum)
      }
      check()
      for (const [after, happening] of happenings) {
        if (outcome.gather === null) break
        const dueAt = Rules.dueAt(outcome.gather)
        const input: Rules.Input = typeof happening === "string" ? { type: "digit", digit: happening } : happening
        now = input.type === "due" ? dueAt : Math.min(now + after, dueAt)
        outcome = Rules.step(outcome.gather, now === dueAt ? { type: "due" } : input, now)
        check()
      }
      // Without further input the gather comes to its end.
      for (let turn = 0; outcome.gather !== null && turn < 100; turn++) {
        now = Rules.dueAt(outcome.gather)
        outcome = Rules.step(outcome.gather, { type: "due" }, now)
        check()
      }
      expect(outcome.complete).not.toBe(null)
      expect(prompts).toBeLessThanOrEqual(tries)
    }
  )
})
