import { expect } from "vitest"
import type { Row } from "../../Row.ts"
import * as World from "../../world/World.ts"
import * as Room from "../Room.ts"
import * as Rooms from "../Rooms.ts"

interface Entry {
  readonly type: string
  readonly amount_cents: number
  readonly reference_type: string | null
  readonly reference_id: string | null
}

/** A tenant for this row, and the ledger entries of an entity. */
const own = async (world: World.World) => {
  const { operate, tenant: another } = world.running()
  const tenant = await another(world.carrier)
  const charged = async (id: string) => {
    const { results } = (await operate("ledger/list", { tenant: tenant.id, limit: 200 })) as {
      readonly results: ReadonlyArray<Entry>
    }
    return results
      .filter(({ reference_id }) => reference_id === id)
      .map(({ amount_cents, reference_type, type }) => `${reference_type} ${type} ${amount_cents}`)
  }
  const usage = async () =>
    ((await tenant.ask("GET", "/v1/usage")).json as { readonly totals: Readonly<Record<string, number>> }).totals
  return { world: { ...world, tenant }, charged, usage }
}

/** A recording that is stopped before its first frame has no sound, and fails. */
const someFrames = () => new Promise((resolve) => setTimeout(resolve, 300))

/** The cost of a room's recordings, guide/conferences.md#what-it-costs. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "recordings of a room are charged to the room, each by its started minute, with its end, and to nobody else",
    run: async (world) => {
      const { charged, usage, world: of } = await own(world)
      const { host, room } = await Rooms.hosted(of)
      for (const nth of [1, 2]) {
        await room.act("record_start", { format: "wav" })
        await someFrames()
        await room.act("record_stop")
        expect(await room.event("recording.completed", nth)).toMatchObject({
          call_id: host.call.id,
          conference_id: room.id
        })
      }
      expect(await charged(room.id)).toEqual([])
      await room.act("record_start", { format: "wav" })
      await someFrames()
      await room.act("end")
      expect(await room.event("recording.completed", 3)).toMatchObject({ conference_id: room.id })
      expect(await charged(room.id)).toEqual([`conference recording_charge ${-3 * World.cents.recording}`])
      await host.call.over()
      expect((await charged(host.call.id)).toSorted()).toEqual([
        "call call_charge -1",
        `call conference_charge ${-World.cents.conference}`
      ])
      expect(await usage()).toMatchObject({
        recording_minutes: 3,
        conference_participant_minutes: 1
      })
      await Room.settled(room)
    }
  },
  {
    name: "a recording of a room is refused as it is to be paid for, and then nothing is recorded and nothing is owed",
    run: async (world) => {
      const { charged, world: of } = await own(world)
      const { operate } = world.running()
      const { room } = await Rooms.hosted(of)
      const refused = () => room.refused("record_start", { format: "wav" })
      const cap = (period: string, cents: number | null) =>
        operate("tenant/quota", { tenant: of.tenant.id, [`${period}_spend_cap_cents`]: cents })
      for (const period of ["daily", "monthly"]) {
        await cap(period, 1)
        expect(await refused()).toBe(`403 ${period}_spend_cap_exceeded`)
        await cap(period, null)
      }
      const { balance_cents } = (await of.tenant.ask("GET", "/v1/billing/balance")).json as {
        readonly balance_cents: number
      }
      await operate("tenant/credit", { tenant: of.tenant.id, cents: -balance_cents, reason: "a row" })
      expect(await refused()).toBe("402 balance_insufficient")
      expect(await room.refused("record_stop")).toBe("409 recording_already_stopped")
      await room.act("end")
      await Room.settled(room)
      expect(await charged(room.id)).toEqual([])
      expect(room.types().filter((type) => type.startsWith("recording."))).toEqual([])
    }
  }
]
