import { describe, expect, it } from "@effect/vitest"
import * as Machine from "../../../src/money/funding/CardTrialMachine.ts"

type Counts = Partial<Record<Machine.Kind, number>>

/** So many trials of each kind, one a minute from the time 0 on, the kinds in turn. */
const trials = (counts: Counts): Machine.Trials =>
  (["setup", "save", "decline"] as const)
    .flatMap((kind) => Array.from({ length: counts[kind] ?? 0 }, (_, minute) => ({ kind, at: minute * 60_000 })))
    .toSorted((one, other) => one.at - other.at)

const by = (workspace: Counts, address: Counts = {}) => ({ workspace: trials(workspace), address: trials(address) })

describe("the limits of trials of cards (guide/money.md#limits-of-cards)", () => {
  const rows: ReadonlyArray<
    readonly [
      asked: Parameters<typeof Machine.refusal>[0],
      workspace: Counts,
      address: Counts,
      by: Machine.Refusal["by"] | null,
      /** The minute whose trials have to be a day old. */
      minute?: number
    ]
  > = [
    ["setup", { setup: 23, decline: 23 }, {}, null],
    ["setup", { setup: 24 }, {}, "workspace", 0],
    ["setup", { decline: 24 }, {}, "workspace", 0],
    ["setup", { setup: 30, decline: 24 }, {}, "workspace", 6],
    ["setup", {}, { setup: 71 }, null],
    ["setup", {}, { setup: 72 }, "address", 0],
    ["save", { setup: 24 }, {}, null],
    ["save", { save: 12, decline: 11 }, {}, null],
    ["save", { save: 12, decline: 12 }, {}, "workspace", 0],
    ["save", { save: 24 }, { save: 300 }, "workspace", 60],
    ["save", {}, { save: 168, decline: 71 }, null],
    ["save", {}, { save: 169, decline: 71 }, "address", 0],
    ["save", {}, { save: 240 }, "address", 0],
    ["save", {}, { save: 243 }, "address", 3],
    ["save", {}, { decline: 72 }, "address", 0],
    ["charge", { setup: 24, save: 24, decline: 23 }, { setup: 72, save: 240, decline: 71 }, null],
    ["charge", { decline: 24 }, {}, "workspace", 0],
    ["charge", {}, { decline: 72 }, "address", 0]
  ]
  for (const [asked, workspace, address, wanted, minute = 0] of rows)
    it(`refuse a ${asked} after ${JSON.stringify([workspace, address])}: ${wanted ?? "they do not"}`, () =>
      expect(Machine.refusal(asked, by(workspace, address))).toEqual(
        wanted === null ? null : { by: wanted, until: minute * 60_000 + Machine.withinMs }
      ))
})
