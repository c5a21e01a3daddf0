import { expect } from "vitest"
import * as Call from "./Call.ts"
import * as Room from "./room/Room.ts"
import type { CarrierName, World } from "./world/World.ts"

/** One row of the contract, shown on a running service. */
export interface Row {
  /** The fact that it shows, in present tense. */
  readonly name: string
  /** Absent: both carriers. The name gives the reason. */
  readonly only?: CarrierName
  readonly run: (world: World) => Promise<void>
}

/** Runs a row in a world that knows its rooms and calls; each of them is ended, and its events are in order. */
export const run = async (row: Row, world: World): Promise<void> => {
  const own: World = { ...world }
  await row.run(own)
  await Promise.all(
    [...(Room.made.get(own)?.values() ?? [])].map(async (room) => {
      await Room.settled(room)
      for (const { data, event_type } of room.told()) own.seen.event(event_type, data)
    })
  )
  await Promise.all(
    [...(Call.made.get(own)?.values() ?? [])].map(async (call) => {
      await call.over()
      const told = call.told()
      expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, index) => index + 1))
      expect(call.types().filter((type) => type === "call.started" || type === "call.ended")).toEqual([
        "call.started",
        "call.ended"
      ])
      const { customer_reference } = await call.find()
      for (const { data, event_type } of told) {
        expect([event_type, data["customer_reference"]]).toEqual([event_type, customer_reference])
        own.seen.event(event_type, data)
      }
    })
  )
}
