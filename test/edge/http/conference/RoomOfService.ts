import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type * as Service from "../../../support/service/SimulatedService.ts"

/** Rooms of simulated phones, over HTTP. */

const silent = "+12025550116"

interface Participant {
  readonly id: string
  readonly call_id: string
  readonly leg_id: string | null
  readonly role: string
  readonly joined_at: string | null
  readonly left_at: string | null
}

export interface View {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly participants: ReadonlyArray<Participant>
}

type Running = Effect.Success<ReturnType<typeof Service.start>>
type Tenant = Effect.Success<ReturnType<typeof Service.tenant>>

let rooms = 0

/** A room with its host and this many others, all of them in it. */
export const hosted = Effect.fnUntraced(function* (
  { ask }: Running,
  tenant: Tenant,
  others: number,
  body: object = {}
) {
  const sql = yield* SqlClient.SqlClient
  const host = yield* tenant.answered(silent)
  const created = yield* ask(tenant.key, "POST", "/v1/conferences/", {
    name: `Room ${++rooms}`,
    host_call_id: host,
    ...body
  })
  if (created.status !== 201) return yield* Effect.die(new Error(created.text))
  const { id } = created.json as View
  const path = `/v1/conferences/${id}`
  const get = (of: string) => ask(tenant.key, "GET", `${path}${of}`)
  const post = (of: string, asked?: object) => ask(tenant.key, "POST", `${path}${of}`, asked ?? {})
  const find = Effect.map(get("/"), ({ json }) => json as View)
  const until = Effect.fnUntraced(function* (reached: (room: View) => boolean) {
    let room = yield* find
    for (let waited = 0; !reached(room) && waited < 1_500; waited++) {
      yield* Effect.sleep("20 millis")
      room = yield* find
    }
    if (!reached(room)) return yield* Effect.die(new Error(`the room stays ${JSON.stringify(room).slice(0, 2000)}`))
    return room
  })
  yield* Effect.forEach(
    Array.from({ length: others }),
    () =>
      Effect.flatMap(post("/participants/", { from: tenant.number, to: silent }), ({ status, text }) =>
        status === 201 ? Effect.void : Effect.die(new Error(text))
      ),
    { concurrency: 16, discard: true }
  )
  yield* until(
    ({ participants, status }) =>
      status === "in_progress" &&
      participants.length === others + 1 &&
      participants.every(({ joined_at }) => joined_at !== null)
  )
  return {
    id,
    path,
    get,
    post,
    find,
    until,
    /** The events for its webhooks, in order. */
    events: Effect.map(
      Effect.orDie(sql<{ readonly type: string }>`
        SELECT type FROM event WHERE entity_id = ${id} ORDER BY sequence`),
      (rows) => rows.map(({ type }) => type)
    ),
    end: Effect.asVoid(
      Effect.andThen(
        post("/actions/end/"),
        until(({ status }) => status === "completed")
      )
    )
  }
})
