import { setTimeout as delay } from "node:timers/promises"
import { expect } from "vitest"
import { header } from "../../../src/protocol/sip/message/SipMessage.ts"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

interface Entry {
  readonly type: string
  readonly amount_cents: number
  readonly reference_id: string | null
}

/** A new workspace whose number has this configuration. */
const configured = async (world: World.World, body: object): Promise<World.World> => {
  const tenant = await world.running().tenant(world.carrier)
  const { json } = await tenant.ask("GET", `/v1/numbers?phone_number=${encodeURIComponent(tenant.number)}`)
  const [number] = (json as { readonly results: ReadonlyArray<{ readonly id: string }> }).results
  expect((await tenant.ask("PATCH", `/v1/numbers/${number?.id}`, body)).status).toBe(200)
  return { ...world, tenant }
}

/** The configuration of a number decides about its calls: guide/numbers.md#configuring. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "a call to a number that records is recorded from its answer on, and the minutes of the recording are charged",
    run: async (world) => {
      const inboundRecording = { enabled: true, format: "wav", channels: "dual" }
      const own = await configured(world, { inbound_recording: inboundRecording })
      const { call, far } = await World.talking(own)
      await far.say(400)
      // A call without a frame of sound leaves no recording.
      await delay(300)
      await far.hangUp()
      expect(await call.event("recording.completed")).toMatchObject({ channels: "dual", format: "wav" })
      await call.over()
      const { operate } = world.running()
      const { results } = (await operate("ledger/list", { tenant: own.tenant.id, limit: 200 })) as {
        readonly results: ReadonlyArray<Entry>
      }
      const charged = results.filter(({ reference_id, type }) => reference_id === call.id && type !== "call_charge")
      expect(charged.map(({ amount_cents, type }) => [type, amount_cents])).toEqual([
        ["recording_charge", -World.cents.recording]
      ])
    }
  },
  {
    name: "an answer that says so is not recorded, whatever its number says",
    run: async (world) => {
      const own = await configured(world, { inbound_recording: { enabled: true } })
      const { call, far } = await World.talking(own, { record: "off" })
      await far.say(200)
      await far.hangUp()
      await call.over()
      expect(call.types().filter((type) => type.startsWith("recording."))).toEqual([])
    }
  },
  {
    name: "a call from a number with a name shows it to the trunk; simulated phones have no display",
    only: "sip",
    run: async (world) => {
      const own = await configured(world, { caller_id_name: "ACME INC 7" })
      const { call } = await World.answered(own)
      await call.act("hangup")
      const user = own.tenant.number.replace("+", "%2B")
      const invites = world
        .running()
        .peer.invites.all.map((invite) => [header(invite, "From") ?? "", header(invite, "P-Asserted-Identity") ?? ""])
        .filter(([from = ""]) => from.includes(own.tenant.number) || from.includes(user))
      expect(invites.length).toBe(1)
      for (const value of invites.flat()) expect(value).toMatch(/^"ACME INC 7" <sip:/)
    }
  }
]
