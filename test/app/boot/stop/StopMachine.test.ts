import { describe, expect, it } from "@effect/vitest"
import * as StopMachine from "../../../../src/app/boot/stop/StopMachine.ts"

/** The acts of each input in turn. */
const acts = (...inputs: ReadonlyArray<StopMachine.Input>): ReadonlyArray<ReadonlyArray<string>> => {
  let state = StopMachine.initial
  return inputs.map((input) => {
    const [next, done] = StopMachine.step(state, input)
    state = next
    return done.map((act) =>
      act.type === "leave" ? `leave ${act.code}` : act.type === "leaveAfter" ? `leave after ${act.ms}` : act.type
    )
  })
}
const keyboard = (at: number) => ({ type: "signalled", by: "keyboard", at }) as const
const supervisor = (at: number) => ({ type: "signalled", by: "supervisor", at }) as const
const failed = { type: "failed" } as const
const overdue = { type: "overdue" } as const

describe("the requests to stop a process", () => {
  it("stop it, hurry it, and make it leave", () => {
    expect(acts(keyboard(0), keyboard(1_000), keyboard(2_000))).toEqual([
      ["stop"],
      ["hurry", "leave after 2000"],
      ["leave 130"]
    ])
    expect(acts(supervisor(0), supervisor(6_000), overdue)).toEqual([
      ["stop"],
      ["hurry", "leave after 2000"],
      ["leave 130"]
    ])
  })

  it("are one request when a group gets the signal at once and each process passes it on", () => {
    expect(acts(supervisor(0), supervisor(300), supervisor(4_900))).toEqual([["stop"], [], []])
    expect(acts(keyboard(0), keyboard(399), supervisor(1_000))).toEqual([["stop"], [], []])
  })

  it("include a Ctrl-C soon after the signal of a supervisor", () => {
    expect(acts(supervisor(0), keyboard(500))).toEqual([["stop"], ["hurry", "leave after 2000"]])
  })
})

describe("a fault of a process", () => {
  it("ends its calls now, and makes it leave within a bound, with an exit code of its own", () => {
    expect(acts(failed, overdue)).toEqual([["stop", "hurry", "leave after 25000"], ["leave 1"]])
  })

  it("counts once, however often it repeats, and cuts a drain short", () => {
    expect(acts(supervisor(0), failed, failed, failed)).toEqual([
      ["stop"],
      ["stop", "hurry", "leave after 25000"],
      [],
      []
    ])
  })

  it("can still be hurried by requests", () => {
    expect(acts(failed, keyboard(0), keyboard(1_000), keyboard(2_000))).toEqual([
      ["stop", "hurry", "leave after 25000"],
      ["stop"],
      ["hurry", "leave after 2000"],
      ["leave 1"]
    ])
  })

  it("changes nothing once the process leaves", () => {
    expect(acts(keyboard(0), keyboard(1_000), keyboard(2_000), failed, overdue)).toEqual([
      ["stop"],
      ["hurry", "leave after 2000"],
      ["leave 130"],
      [],
      []
    ])
  })
})
