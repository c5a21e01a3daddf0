import { expect } from "vitest"
import * as Overtaken from "../../../src/webhook/claim/Overtaken.ts"
import type { Event } from "../../crash/support/peer/Receiver.ts"
import * as TestServer from "../../edge/http/TestServer.ts"
import * as Subject from "../Subject.ts"
import type { World } from "../world/World.ts"

export interface Participant {
  readonly id: string
  readonly conference_id: string
  readonly call_id: string
  readonly leg_id: string | null
  readonly role: string
  readonly joined_at: string | null
  readonly left_at: string | null
  readonly duration_seconds: number
  readonly is_muted: boolean
  readonly is_on_hold: boolean
  readonly is_speaking: boolean
}

/** A conference as the API returns it. */
export interface View {
  readonly id: string
  readonly tenant_id: string
  readonly name: string
  readonly status: string
  readonly host_call_id: string | null
  readonly beep_enabled: string
  readonly start_on_create: boolean
  readonly end_on_exit: boolean
  readonly max_participants: number
  readonly duration_minutes: number
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly created_at: string
  readonly participants: ReadonlyArray<Participant>
}

/** A row of the upstream snapshot. */
export interface Upstream {
  readonly member_id: string | null
  readonly drift: boolean
  readonly call_id: string | null
  readonly status: string
  readonly muted: boolean
  readonly on_hold: boolean
  readonly whispering: boolean
  readonly whisper_leg_ids: ReadonlyArray<string>
}

/** A room of a row. */
export interface Room extends Subject.Subject<View> {
  readonly name: string
  /** Dials a number into the room. */
  readonly dial: (to: string, body?: object) => Promise<Participant>
  readonly undialled: (body?: object) => Promise<string>
  /** The participants of the local list. */
  readonly list: (query?: string) => Promise<ReadonlyArray<Participant>>
  readonly upstream: (query?: string) => Promise<ReadonlyArray<Upstream>>
  /** Sends a PATCH, or a DELETE without a body; returns the answer. */
  readonly change: (member: string, body: object | null) => Promise<TestServer.Answer>
  /** This call's newest participant, once it is in the room. */
  readonly joined: (callId: string, nth?: number) => Promise<Participant>
  readonly left: (callId: string, nth?: number) => Promise<Event["data"]>
  /** Ends the room if it still lives, and waits for `conference.ended`; returns the event types up to then. */
  readonly over: () => Promise<ReadonlyArray<string>>
}

/** The rooms of one carrier's rows, for the check at their end. */
export const made = new WeakMap<World, Map<string, Room>>()

let names = 0
export const freshName = (): string => `Room ${++names}`

export const codeOf = Subject.codeOf

export const of = (world: World, { id, name }: Pick<View, "id" | "name">): Room => {
  const rooms = made.get(world) ?? new Map<string, Room>()
  made.set(world, rooms)
  const known = rooms.get(id)
  if (known !== undefined) return known
  const { seen, tenant } = world
  const path = `/v1/conferences/${id}`
  const subject = Subject.make<View>(world, {
    id,
    path,
    self: `${path}/`,
    action: (verb) => `${path}/actions/${verb}/`,
    stateOf: ({ status }) => status
  })
  const { event, find } = subject
  const read = async (of: string): Promise<unknown> => {
    const answer = await tenant.ask("GET", `${path}${of}`)
    expect([of, answer.status, answer.status === 200 ? null : answer.text]).toEqual([of, 200, null])
    return answer.json
  }
  const dialled = async (body: object) => {
    const before = await find()
    const answer = await tenant.ask("POST", `${path}/participants/`, { from: tenant.number, ...body })
    seen.verb("dial", before.status, answer.status === 201 ? "201" : String(TestServer.codeOf(answer)))
    return answer
  }
  const room: Room = {
    ...subject,
    name,
    dial: async (to, body = {}) => {
      const answer = await dialled({ to, ...body })
      expect(answer.status, answer.text).toBe(201)
      seen.body("dial", { from: tenant.number, to, ...body })
      return answer.json as Participant
    },
    undialled: async (body = {}) => {
      const answer = await dialled({ to: "+12025550102", ...body })
      seen.error(String(TestServer.codeOf(answer)))
      return codeOf(answer)
    },
    list: async (query = "") =>
      ((await read(`/participants/list/${query}`)) as { readonly results: ReadonlyArray<Participant> }).results,
    upstream: async (query = "") =>
      ((await read(`/participants/upstream/${query}`)) as { readonly results: ReadonlyArray<Upstream> }).results,
    change: async (member, body) => {
      const before = await find()
      const [verb, method] = body === null ? ["remove_member", "DELETE"] : ["update_member", "PATCH"]
      const answer = await tenant.ask(method, `${path}/participants/${member}/`, body ?? undefined)
      seen.verb(verb, before.status, answer.status === 200 ? "200" : String(TestServer.codeOf(answer)))
      if (answer.status === 200) seen.body(verb, body ?? {})
      else seen.error(String(TestServer.codeOf(answer)))
      return answer
    },
    joined: async (callId, nth = 1) => {
      const { member_id } = await event("conference.member_joined", nth, ({ call_id }) => call_id === callId)
      const member = (await find()).participants.find((each) => each.id === member_id)
      if (member === undefined) throw new Error(`${String(member_id)} is no participant of ${id}`)
      return member
    },
    left: (callId, nth = 1) => event("conference.member_left", nth, ({ call_id }) => call_id === callId),
    over: async () => {
      if ((await find()).status !== "completed") await tenant.ask("POST", `${path}/actions/end/`)
      await event("conference.ended")
      await complete(world, room)
      return room.types()
    }
  }
  rooms.set(id, room)
  return room
}

/** Requests a room; `name` is new unless the body has one. */
export const creation = async (world: World, hostCallId: string, body: object = {}): Promise<TestServer.Answer> => {
  const asked = { name: freshName(), host_call_id: hostCallId, ...body }
  const answer = await world.tenant.ask("POST", "/v1/conferences/", asked)
  if (answer.status === 201) world.seen.body("create", asked)
  else world.seen.error(String(TestServer.codeOf(answer)))
  return answer
}

export const create = async (world: World, hostCallId: string, body: object = {}): Promise<Room> => {
  const answer = await creation(world, hostCallId, body)
  expect(answer.status, answer.text).toBe(201)
  const view = answer.json as View
  expect(view).toMatchObject({ status: "init", host_call_id: hostCallId, tenant_id: world.tenant.id })
  return of(world, view)
}

const speaking = ["conference.member_speaking_started", "conference.member_speaking_ended"]

/** Waits until every number of the room up to its end has arrived, or is of a speaking event that another overtook. */
const complete = async ({ tenant }: World, room: Room): Promise<void> => {
  const missing = () => {
    const numbers = new Set(room.told().map(({ sequence }) => sequence))
    return Array.from({ length: Math.max(...numbers) }, (_, index) => index + 1).filter(
      (number) => !numbers.has(number)
    )
  }
  const overtaken = async (type: string) => {
    const answer = await tenant.ask("GET", `/v1/webhook-deliveries?status=failed&page_size=100&event_type=${type}`)
    const { results } = answer.json as { readonly results: ReadonlyArray<{ readonly error_message: string | null }> }
    return results.filter(({ error_message }) => error_message === Overtaken.message).length
  }
  for (let waited = 0; missing().length > 0; waited += 100) {
    const dropped = await Promise.all(speaking.map(overtaken))
    if (missing().length <= dropped.reduce((sum, count) => sum + count, 0)) return
    expect(waited, `numbers of ${room.id} that never came: ${String(missing())}`).toBeLessThan(30_000)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Each member has left once, each number came once, and only recordings are reported after the end. */
export const settled = async (room: Room): Promise<void> => {
  await room.over()
  const told = room.told()
  expect(new Set(told.map(({ sequence }) => sequence)).size).toBe(told.length)
  const membersOf = (type: string) =>
    told
      .filter(({ event_type }) => event_type === type)
      .map(({ data }) => String(data["member_id"]))
      .toSorted()
  expect(membersOf("conference.member_left")).toEqual(membersOf("conference.member_joined"))
  expect(new Set(membersOf("conference.member_joined")).size).toBe(membersOf("conference.member_joined").length)
  const types = room.types().filter((type) => type.startsWith("conference."))
  expect(types.filter((type) => type === "conference.ended")).toEqual(["conference.ended"])
  expect(types.at(-1)).toBe("conference.ended")
  expect(types.filter((type) => type === "conference.started").length).toBeLessThanOrEqual(1)
  const view = await room.find()
  expect(view.status).toBe("completed")
  expect(view.participants.filter(({ left_at }) => left_at === null)).toEqual([])
}
