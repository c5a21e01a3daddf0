import { expect } from "vitest"
import type * as TestServer from "../../../edge/http/TestServer.ts"
import type { Row } from "../../Row.ts"
import type * as World from "../../world/World.ts"
import * as Contract from "../Contract.ts"
import * as Rooms from "../Rooms.ts"

const fault = ({ json }: TestServer.Answer) =>
  (json as { readonly error?: { readonly code: string; readonly param?: string } }).error ?? { code: "none" }

/** Values in range are accepted, up to the state's refusal; others are refused with the field's name. */
const check = async (
  ranges: NonNullable<(typeof Contract.verbs)[string]>["ranges"],
  ask: (field: string, value: unknown) => Promise<TestServer.Answer>,
  taken: string
): Promise<void> => {
  for (const [field, { bad, good }] of Object.entries(ranges)) {
    for (const value of good) expect([field, value, fault(await ask(field, value)).code]).toEqual([field, value, taken])
    for (const value of bad) {
      const { code, param = "" } = fault(await ask(field, value))
      const named = param.startsWith(field) || (field === "role" && value === "whisper" && param === "whisper_leg_ids")
      expect([field, value, code, named]).toEqual([field, value, "invalid_request", true])
    }
  }
}

const completed = async (world: World.World) => {
  const { host, room } = await Rooms.hosted(world)
  await room.act("end")
  return { host, room }
}

/** The fields of every verb. A body is checked before the state and before any carrier, so one carrier is enough. */
export const rows: ReadonlyArray<Row> = [
  ...Object.entries(Contract.verbs).map(([verb, { body, ranges }]): Row => ({
    name: `the fields of ${verb} have their ranges, and no other field is taken`,
    only: "simulator",
    run: async (world) => {
      const { room } = await completed(world)
      const ask = (given: unknown) => world.tenant.ask("POST", `${room.path}/actions/${verb}/`, given)
      await check(ranges, (field, value) => ask({ ...body, [field]: value }), "conference_already_ended")
      for (const field of Object.keys(body)) {
        const { [field]: _, ...rest } = body
        expect([field, fault(await ask(rest)).code]).toEqual([field, "invalid_request"])
      }
      expect(fault(await ask({ ...body, more: 1 })).code).toBe("invalid_request")
      for (const given of ["null", "[]", '"x"', "7", "{"])
        expect([given, fault(await ask(given)).code]).toEqual([given, "invalid_request"])
      const isOptional = Object.keys(body).length === 0
      for (const given of [undefined, {}])
        expect([given, fault(await ask(given)).code]).toEqual([
          given,
          isOptional ? "conference_already_ended" : "invalid_request"
        ])
    }
  })),
  {
    name: "the fields of a new conference, of who is dialled in and of a participant have their ranges",
    only: "simulator",
    run: async (world) => {
      const { room } = await completed(world)
      const { number, ask } = world.tenant
      const create = { name: "x", host_call_id: `svc_call_${"0".repeat(32)}` }
      const dial = { from: number, to: "+12025550102" }
      const rangesOf = (of: string) => Contract.bodies[of]?.ranges ?? {}
      await check(
        rangesOf("create"),
        (field, value) => ask("POST", "/v1/conferences/", { ...create, [field]: value }),
        "not_found"
      )
      await check(
        rangesOf("dial"),
        (field, value) => ask("POST", `${room.path}/participants/`, { ...dial, [field]: value }),
        "conference_already_ended"
      )
      const path = `${room.path}/participants/${(await room.find()).participants[0]?.id ?? ""}/`
      await check(
        rangesOf("update_member"),
        (field, value) => ask("PATCH", path, { [field]: value }),
        "conference_already_ended"
      )
      for (const [method, to, body] of [
        ["POST", "/v1/conferences/", create],
        ["POST", `${room.path}/participants/`, dial]
      ] as const) {
        for (const field of Object.keys(body)) {
          const { [field]: _, ...rest } = body as Readonly<Record<string, unknown>>
          expect([field, fault(await ask(method, to, rest)).code]).toEqual([field, "invalid_request"])
        }
        expect(fault(await ask(method, to, { ...body, more: 1 })).code).toBe("invalid_request")
      }
      expect(fault(await ask("PATCH", path, { muted: true })).code).toBe("invalid_request")
    }
  }
]
