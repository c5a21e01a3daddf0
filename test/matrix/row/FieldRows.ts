import { expect } from "vitest"
import * as TestServer from "../../edge/http/TestServer.ts"
import * as Call from "../Call.ts"
import type { Row } from "../Row.ts"
import * as Contract from "../Contract.ts"
import * as World from "../world/World.ts"

const fault = ({ json }: TestServer.Answer) =>
  (json as { readonly error?: { readonly code: string; readonly param?: string } }).error ?? { code: "none" }

/**
 * The fields of every verb: values in their range are accepted, and others are refused with the field's name. A body is
 * checked before the state, so an ended call answers which of the two it was; and before any carrier, so one is enough.
 */
export const rows: ReadonlyArray<Row> = [
  ...Object.entries(Contract.verbs).map(([verb, { body, ranges = {} }]): Row => ({
    name: `the fields of ${verb} have their ranges, and no other field is taken`,
    only: "simulator",
    run: async (world) => {
      const { call } = await World.place(world)
      await call.act("hangup")
      const ask = (given: object) => world.tenant.ask("POST", `${call.path}/actions/${verb}`, given)
      for (const [field, { bad, good }] of Object.entries(ranges)) {
        for (const value of good)
          expect([field, value, fault(await ask({ ...body, [field]: value })).code]).toEqual([
            field,
            value,
            "call_already_ended"
          ])
        for (const value of bad) {
          const { code, param = "" } = fault(await ask({ ...body, [field]: value }))
          expect([field, value, code, param.startsWith(field)]).toEqual([field, value, "invalid_request", true])
        }
      }
      for (const field of Object.keys(body)) {
        const { [field]: _, ...rest } = body
        expect([field, fault(await ask(rest)).code]).toEqual([field, "invalid_request"])
      }
      expect(fault(await ask({ ...body, more: 1 })).code).toBe("invalid_request")
      world.seen.error("invalid_request")
    }
  })),
  {
    name: "the fields of a placed call have their ranges, and no other field is taken",
    only: "simulator",
    run: async (world) => {
      // A missing route is looked up after the check of the body.
      const body = { from: world.tenant.number, to: world.ends.number, route_id: `svc_route_${"0".repeat(32)}` }
      const ask = (given: object) => world.tenant.ask("POST", "/v1/calls", given)
      for (const [field, { bad, good }] of Object.entries(Contract.placement.ranges)) {
        for (const value of good)
          expect([field, value, fault(await ask({ ...body, [field]: value })).code]).toEqual([
            field,
            value,
            "not_found"
          ])
        for (const value of bad) {
          const { code, param = "" } = fault(await ask({ ...body, [field]: value }))
          expect([field, value, code, param.startsWith(field)]).toEqual([field, value, "invalid_request", true])
        }
      }
      for (const field of ["from", "to"]) {
        const { [field]: _, ...rest } = body as Readonly<Record<string, unknown>>
        expect([field, fault(await ask(rest)).code]).toEqual([field, "invalid_request"])
      }
      expect(fault(await ask({ ...body, more: 1 })).code).toBe("invalid_request")
      expect(fault(await ask({ ...body, route_id: "main" })).code).toBe("invalid_request")
      world.seen.error("not_found")
    }
  },
  {
    name: "a verb without a body takes none or {}, and nothing else; no verb takes what is no object",
    only: "simulator",
    run: async (world) => {
      const { call } = await World.place(world)
      await call.act("hangup")
      for (const [verb, { body, fields }] of Object.entries(Contract.verbs)) {
        const ask = async (given?: unknown) =>
          fault(await world.tenant.ask("POST", `${call.path}/actions/${verb}`, given)).code
        for (const given of ["null", "[]", '"x"', "7", "{"])
          expect([verb, given, await ask(given)]).toEqual([verb, given, "invalid_request"])
        const isOptional = Object.keys(body).length === 0
        for (const given of [undefined, {}])
          expect([verb, given, await ask(given)]).toEqual([
            verb,
            given,
            isOptional ? "call_already_ended" : "invalid_request"
          ])
        if (Object.keys(fields).length === 0)
          expect([verb, await ask({ reason: "x" })]).toEqual([verb, "invalid_request"])
      }
    }
  },
  {
    name: "ids of recordings and streams, and pages of streams, are checked",
    run: async (world) => {
      const { call } = await World.answered(world)
      const nothing = "0".repeat(32)
      const code = async (method: string, path: string, body?: object) =>
        fault(await world.tenant.ask(method, path, body)).code
      expect([
        await code("GET", "/v1/recordings/7"),
        await code("GET", `/v1/recordings/svc_rec_${nothing}`),
        await code("DELETE", `/v1/recordings/svc_rec_${nothing}`),
        await code("GET", "/v1/recordings?call_id=7"),
        await code("GET", `${call.path}/streamings?page=2`),
        await code("GET", `${call.path}/streamings?page=0`),
        await code("GET", `${call.path}/streamings?status=active`),
        await code("POST", `${call.path}/actions/streaming_stop`, { stream_id: "7" }),
        await code("POST", `${call.path}/actions/streaming_stop`, { stream_id: `svc_call_${nothing}` })
      ]).toEqual([
        "invalid_request",
        "not_found",
        "not_found",
        "invalid_request",
        "not_found",
        "invalid_request",
        "invalid_request",
        "invalid_request",
        "invalid_request"
      ])
    }
  },
  {
    name: "the digits of a gather have to agree",
    run: async (world) => {
      const { call } = await World.place(world)
      for (const verb of ["gather", "gather_using_speak", "gather_using_audio"] as const)
        expect(await call.refused(verb, { ...Contract.verbs[verb]?.body, minimum_digits: 5, maximum_digits: 4 })).toBe(
          "422 unprocessable"
        )
    }
  },
  {
    name: "a call of somebody else, one that is not there, and what is no id, are not found by any verb",
    run: async (world) => {
      const { call } = await World.place(world)
      const other = world.running().worlds[world.carrier === "sip" ? "simulator" : "sip"].tenant
      for (const [verb, { body }] of Object.entries(Contract.verbs)) {
        const ask = async (path: string) => fault(await other.ask("POST", `${path}/actions/${verb}`, body)).code
        expect([verb, await ask(call.path)]).toEqual([verb, "not_found"])
        expect([verb, await ask(`/v1/calls/svc_call_${"0".repeat(32)}`)]).toEqual([verb, "not_found"])
        expect([verb, await ask("/v1/calls/7")]).toEqual([verb, "invalid_request"])
      }
      for (const part of ["", "/streamings", "/transcription", "/amd"])
        expect([part, fault(await other.ask("GET", `${call.path}${part}`)).code]).toEqual([part, "not_found"])
      expect((await Call.of(world, call.id).find()).status).not.toBe("ended")
    }
  }
]
