import { describe, expect, it } from "@effect/vitest"
import { availableParallelism } from "node:os"
import * as Patience from "./support/Patience.ts"

const machine = { at: 0, processes: 1, now: () => machine.at, wanting: () => machine.processes }

describe("The patience of the crash tests", () => {
  it("counts the time of a quiet machine as it is", () => {
    machine.processes = 1
    const patience = Patience.make(1_000, machine)
    machine.at += 999
    expect(patience.isOver()).toBe(false)
    machine.at += 1
    expect(patience.isOver()).toBe(true)
  })

  it("counts a tenth of the time while ten times as many processes want to run as there are processors", () => {
    machine.processes = 10 * availableParallelism()
    const patience = Patience.make(1_000, machine)
    machine.at += 9_000
    expect(patience.isOver()).toBe(false)
    machine.processes = 1
    machine.at += 100
    expect(patience.isOver()).toBe(true)
  })

  it("begins again when something has happened", () => {
    machine.processes = 1
    const patience = Patience.make(1_000, machine)
    machine.at += 900
    patience.renew()
    machine.at += 900
    expect(patience.isOver()).toBe(false)
  })
})
