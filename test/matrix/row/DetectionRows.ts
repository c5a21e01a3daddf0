import { expect } from "vitest"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

const result = async (world: World.World, path: string) => (await world.tenant.ask("GET", `${path}/amd`)).json

/** Machine detection, guide/detection.md; its accuracy is scored elsewhere. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "machine detection is pending, and unknown when the call ends before the answer; nothing is told",
    run: async (world) => {
      const { call, far } = await World.place(world, { answering_machine_detection: "premium" })
      expect(await result(world, call.path)).toMatchObject({ mode: "premium", status: "pending", result: null })
      await far.refuse("user_busy")
      await call.event("call.ended")
      expect(await result(world, call.path)).toMatchObject({
        status: "complete",
        result: "unknown",
        detail: "not_sure"
      })
      expect(call.types()).not.toContain("call.amd_complete")
    }
  },
  {
    name: "machine detection hears a beep as a machine's, with its beep",
    run: async (world) => {
      const { call, far } = await World.answered(world, { answering_machine_detection: "premium" })
      await far.say(400)
      expect(await call.event("call.amd_complete")).toMatchObject({
        result: "machine",
        detail: "machine",
        beep_detected: true
      })
      expect(await result(world, call.path)).toMatchObject({
        status: "complete",
        result: "machine",
        beep_detected: true
      })
    }
  },
  {
    name: "machine detection is unknown when nobody speaks",
    run: async (world) => {
      const { call } = await World.answered(world, { answering_machine_detection: "premium" })
      expect(await call.event("call.amd_complete")).toMatchObject({
        result: "unknown",
        detail: "silence",
        beep_detected: false
      })
      expect(await result(world, call.path)).toMatchObject({ result: "unknown", detail: "silence" })
    }
  },
  {
    name: "machine detection hears a person",
    only: "simulator",
    run: async (world) => {
      const call = await World.dial(world, "+12025550111", { answering_machine_detection: "premium" })
      const told = await call.event("call.amd_complete")
      expect([told, await result(world, call.path), call.types()]).toMatchObject([
        { result: "human", beep_detected: false },
        { result: "human", detail: expect.stringMatching(/^human_/) },
        ["call.started", "call.ringing", "call.answered", "call.amd_complete"]
      ])
    }
  },
  {
    name: "a call that was placed without detection has no result",
    run: async (world) => {
      const { call } = await World.answered(world, { answering_machine_detection: "off" })
      expect((await world.tenant.ask("GET", `${call.path}/amd`)).status).toBe(404)
    }
  }
]
