import { expect } from "vitest"
import * as TestServer from "../edge/http/TestServer.ts"
import * as Subject from "./Subject.ts"
import type { World } from "./world/World.ts"

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

/** A call as the API returns it. */
export interface View {
  readonly id: string
  readonly direction: string
  readonly status: string
  readonly end_reason: string | null
  readonly end_initiator: string | null
  readonly ended_at: string | null
  readonly duration_seconds: number
  readonly cost_cents: number | null
  readonly customer_reference: string | null
  readonly legs: ReadonlyArray<Leg>
  readonly recordings: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** A call of a row. */
export interface Call extends Subject.Subject<View> {
  readonly legId: () => Promise<string>
  /** Hangs up if the call still lives, and waits for `call.ended`; returns the event types up to then. */
  readonly over: () => Promise<ReadonlyArray<string>>
}

/** The calls of one carrier's rows, for the check at their end. */
export const made = new WeakMap<World, Map<string, Call>>()

export const of = (world: World, id: string): Call => {
  const calls = made.get(world) ?? new Map<string, Call>()
  made.set(world, calls)
  const known = calls.get(id)
  if (known !== undefined) return known
  const { seen, tenant } = world
  const path = `/v1/calls/${id}`
  const action = (verb: string) => `${path}/actions/${verb}`
  const subject = Subject.make<View>(world, { id, path, self: path, action, stateOf })
  let counted = 0
  /** Notes the events since the last time. */
  const count = () => {
    const all = subject.told()
    for (; counted < all.length; counted++) {
      const event = all[counted]
      if (event !== undefined) seen.event(event.event_type, event.data)
    }
  }
  const call: Call = {
    ...subject,
    legId: async () => (await subject.find()).legs[0]?.id ?? "",
    event: async (...which) => {
      const data = await subject.event(...which)
      count()
      return data
    },
    over: async () => {
      const { status } = await subject.find()
      if (status !== "ended" && status !== "failed") await tenant.ask("POST", action("hangup"))
      await call.event("call.ended")
      return call.types()
    }
  }
  calls.set(id, call)
  return call
}

/** An inbound call that waits for an answer has a state of its own for verbs. */
const stateOf = ({ direction, status }: View): string =>
  direction === "inbound" && (status === "initiated" || status === "ringing") ? "offered" : status

export const placed = async (world: World, body: object): Promise<Call> => {
  const answer = await world.tenant.ask("POST", "/v1/calls", body)
  expect(answer.status, answer.text).toBe(201)
  expect((answer.json as View).status).toBe("initiated")
  world.seen.body("place", body)
  return of(world, (answer.json as View).id)
}

/** The refusal of a placement, as `403 country_blocked`. */
export const refusedPlacement = async (world: World, tenant: World["tenant"], body: object): Promise<string> => {
  const answer = await tenant.ask("POST", "/v1/calls", { from: tenant.number, to: world.ends.number, ...body })
  const code = String(TestServer.codeOf(answer))
  world.seen.error(code)
  return `${answer.status} ${code}`
}
