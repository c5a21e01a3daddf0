import { describe, expect, it } from "@effect/vitest"
import * as Machine from "../../../src/money/funding/CardTrialMachine.ts"

const { none } = Machine
const by = (workspace: Partial<Machine.Trials>, address: Partial<Machine.Trials> = {}) => ({
  workspace: { ...none, ...workspace },
  address: { ...none, ...address }
})

describe("the limits of trials of cards (guide/money.md#limits-of-cards)", () => {
  const rows: ReadonlyArray<
    readonly [Parameters<typeof Machine.refusal>[0], ReturnType<typeof by>, ReturnType<typeof Machine.refusal>]
  > = [
    ["setup", by({ setup: 23, decline: 23 }), null],
    ["setup", by({ setup: 24 }), "workspace"],
    ["setup", by({ decline: 24 }), "workspace"],
    ["setup", by({}, { setup: 71 }), null],
    ["setup", by({}, { setup: 72 }), "address"],
    ["save", by({ setup: 24 }), null],
    ["save", by({ save: 12, decline: 11 }), null],
    ["save", by({ save: 12, decline: 12 }), "workspace"],
    ["save", by({}, { save: 10_000, decline: 71 }), null],
    ["save", by({}, { decline: 72 }), "address"],
    ["charge", by({ setup: 24, save: 24, decline: 23 }, { setup: 72, decline: 71 }), null],
    ["charge", by({ decline: 24 }), "workspace"],
    ["charge", by({}, { decline: 72 }), "address"]
  ]
  for (const [asked, tried, wanted] of rows)
    it(`refuse a ${asked} after ${JSON.stringify(tried)}: ${wanted ?? "they do not"}`, () =>
      expect(Machine.refusal(asked, tried)).toBe(wanted))
})
