import { expect } from "vitest"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

interface Entry {
  readonly type: string
  readonly amount_cents: number
  readonly reference_id: string | null
}

/** The prices of work on a call besides its minutes, which `World.start` sets: guide/money.md#rates. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "recording, transcription and detection are charged by the operator's prices, beside the minutes of the call",
    run: async (world) => {
      const { operate, tenant: another } = world.running()
      const own = { ...world, tenant: await another(world.carrier) }
      const { call, far } = await World.answered(own, {
        record: "on_answer",
        answering_machine_detection: "premium"
      })
      await call.act("transcription_start")
      await far.say(400)
      await Promise.all([call.event("call.amd_complete"), call.event("call.transcript_chunk")])
      await call.act("hangup")
      await call.event("recording.completed")
      expect((await call.find()).cost_cents).toBe(1)
      const { results } = (await operate("ledger/list", { tenant: own.tenant.id, limit: 200 })) as {
        readonly results: ReadonlyArray<Entry>
      }
      const charged = results.filter(({ reference_id }) => reference_id === call.id)
      expect(charged.map(({ amount_cents, type }) => `${type} ${amount_cents}`).toSorted()).toEqual([
        `amd_charge ${-World.cents.machine_detection}`,
        "call_charge -1",
        `recording_charge ${-World.cents.recording}`,
        `transcription_charge ${-World.cents.transcription}`
      ])
      const shown = (await own.tenant.ask("GET", `${call.path}/transcription`)).json as { readonly cost_cents: number }
      expect(shown.cost_cents).toBe(World.cents.transcription)
      await call.over()
    }
  },
  {
    name: "what was not answered costs nothing, detection and recording among it",
    run: async (world) => {
      const { operate, tenant: another } = world.running()
      const own = { ...world, tenant: await another(world.carrier) }
      const { call, far } = await World.place(own, { record: "on_answer", answering_machine_detection: "premium" })
      await far.refuse("user_busy")
      await call.event("call.ended")
      expect((await call.find()).cost_cents).toBe(0)
      const { results } = (await operate("ledger/list", { tenant: own.tenant.id, limit: 200 })) as {
        readonly results: ReadonlyArray<Entry>
      }
      expect(results.filter(({ reference_id }) => reference_id === call.id)).toEqual([])
      await call.over()
    }
  },
  {
    name: "a started minute of each leg is charged, once for the call",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("transfer", { to: "+12025550116" })
      await call.event("call.bridged")
      await call.act("hangup")
      await call.event("call.ended")
      expect(await call.find()).toMatchObject({ cost_cents: 2, rating_status: "rated" })
    }
  }
]
