import { expect } from "vitest"
import type { Event } from "../crash/support/Receiver.ts"
import * as TestServer from "../http/TestServer.ts"
import type { World } from "./World.ts"

export interface Leg {
  readonly id: string
  readonly role: string
  readonly status: string
  readonly to: string
  readonly from: string
  readonly bridged_leg_id: string | null
  readonly end_reason: string | null
  readonly end_initiator: string | null
  readonly sip_status: number | null
  readonly quality: object | null
}

/** A call as it is read. */
export interface View {
  readonly id: string
  readonly direction: string
  readonly status: string
  readonly end_reason: string | null
  readonly end_initiator: string | null
  readonly cost_cents: number | null
  readonly customer_reference: string | null
  readonly legs: ReadonlyArray<Leg>
  readonly recordings: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** A call of a row: what it is asked, and what its webhooks told. */
export interface Call {
  readonly id: string
  readonly path: string
  readonly find: () => Promise<View>
  readonly legId: () => Promise<string>
  /** An action that is accepted. */
  readonly act: (verb: string, body?: object) => Promise<View>
  /** One that is refused, as `409 conflict`. */
  readonly refused: (verb: string, body?: object) => Promise<string>
  /** The data of the `nth` webhook of this type. */
  readonly event: (type: string, nth?: number) => Promise<Event["data"]>
  /** What was told so far. */
  readonly told: () => ReadonlyArray<Event>
  readonly types: () => ReadonlyArray<string>
  /** Asks until it is so: of what no event tells. */
  readonly until: (what: string, reached: (call: View) => boolean) => Promise<View>
  /** Hangs up where nobody did, and waits for `call.ended`; what was told until then. */
  readonly over: () => Promise<ReadonlyArray<string>>
}

/** Of one carrier's rows, for the check at their end. */
export const made = new WeakMap<World, Map<string, Call>>()

export const of = (world: World, id: string): Call => {
  const calls = made.get(world) ?? new Map<string, Call>()
  made.set(world, calls)
  const known = calls.get(id)
  if (known !== undefined) return known
  const { seen, tenant } = world
  const path = `/v1/calls/${id}`
  const tape = world.running().delivered.of(id)
  let counted = 0
  /** Writes down what has come since. */
  const count = () => {
    for (; counted < tape.all.length; counted++) {
      const event = tape.all[counted]
      if (event !== undefined) seen.event(event.event_type, event.data)
    }
  }
  const find = async (): Promise<View> => {
    const answer = await tenant.ask("GET", path)
    expect(answer.status, answer.text).toBe(200)
    return answer.json as View
  }
  const ask = async (verb: string, body: object | undefined) => {
    const before = await find()
    return { before, answer: await tenant.ask("POST", `${path}/actions/${verb}`, body) }
  }
  const call: Call = {
    id,
    path,
    find,
    legId: async () => (await find()).legs[0]?.id ?? "",
    act: async (verb, body) => {
      const { answer, before } = await ask(verb, body)
      expect([verb, answer.status, answer.status === 200 ? null : answer.text]).toEqual([verb, 200, null])
      seen.verb(verb, stateOf(before), "200")
      seen.body(verb, body ?? {})
      return answer.json as View
    },
    refused: async (verb, body) => {
      const { answer, before } = await ask(verb, body)
      const code = String(TestServer.codeOf(answer))
      expect(answer.status, `${verb} was not refused`).toBeGreaterThanOrEqual(400)
      seen.verb(verb, stateOf(before), code)
      seen.error(code)
      return `${answer.status} ${code}`
    },
    event: async (type, nth = 1) => {
      const event = await tape.until(
        `${type} (${nth}) of ${id}`,
        (all) => all.filter(({ event_type }) => event_type === type)[nth - 1]
      )
      count()
      return event.data
    },
    told: () => tape.all,
    types: () => tape.all.map(({ event_type }) => event_type),
    until: async (what, reached) => {
      for (let waited = 0; waited < 20_000; waited += 20) {
        const view = await find()
        if (reached(view)) return view
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error(`in vain: ${what}, of ${JSON.stringify(await find())}`)
    },
    over: async () => {
      const { status } = await find()
      if (status !== "ended" && status !== "failed") await tenant.ask("POST", `${path}/actions/hangup`)
      await call.event("call.ended")
      return call.types()
    }
  }
  calls.set(id, call)
  return call
}

/** An inbound call that waits for us has a state of its own to the verbs. */
const stateOf = ({ direction, status }: View): string =>
  direction === "inbound" && (status === "initiated" || status === "ringing") ? "offered" : status

export const placed = async (world: World, body: object): Promise<Call> => {
  const answer = await world.tenant.ask("POST", "/v1/calls", body)
  expect(answer.status, answer.text).toBe(201)
  expect((answer.json as View).status).toBe("initiated")
  world.seen.body("place", body)
  return of(world, (answer.json as View).id)
}

/** A placement that is refused, as `403 country_blocked`. */
export const refusedPlacement = async (world: World, tenant: World["tenant"], body: object): Promise<string> => {
  const answer = await tenant.ask("POST", "/v1/calls", { from: tenant.number, to: world.ends.number, ...body })
  const code = String(TestServer.codeOf(answer))
  world.seen.error(code)
  return `${answer.status} ${code}`
}
