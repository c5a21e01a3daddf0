import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import * as SimulatedService from "../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as TestServer from "./TestServer.ts"

type Engine = Effect.Success<ReturnType<typeof SimulatedService.start>>

const neverAnswers = "+12025550102"

/** A tenant in the partition, with a number and a ringing call. */
const tenant = Effect.fnUntraced(function* (engine: Engine, partition: number, number: string) {
  const { ask, port } = engine
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`ALTER TABLE tenant ALTER COLUMN partition SET DEFAULT ${partition}`)
  const form = { email: `${number}@example.com`, password: "correct horse battery", tenant_name: number }
  const body = { ...form, first_name: "Ada", last_name: "Lovelace" }
  const signedUp = yield* Effect.promise(() => TestServer.send(port, "POST", "/v1/signup", { key: null, body }))
  const { api_key_plaintext: key } = signedUp.json as { readonly api_key_plaintext: string }
  const order = { phone_numbers: [number], country_code: "US", number_type: "local" }
  expect((yield* ask(key, "POST", "/v1/numbers/order", order)).status).toBe(201)
  // Orders are finished by a job, and jobs run in only one partition.
  yield* sql`UPDATE phone_number SET status = 'active' WHERE phone_number = ${number}`
  const place = (at: Engine) => at.ask(key, "POST", "/v1/calls", { from: number, to: neverAnswers })
  const placed = yield* place(engine)
  expect(placed.status, placed.text).toBe(201)
  const { id } = placed.json as { readonly id: string }
  const find = (at: Engine) => Effect.map(at.ask(key, "GET", `/v1/calls/${id}`), ({ json }) => json as Call)
  // After this, nothing happens by itself.
  while ((yield* find(engine)).status !== "ringing") yield* Effect.sleep("10 millis")
  return {
    place: (at: Engine) => Effect.map(place(at), ({ status }) => status),
    asks: (at: Engine, method: string, path: string, body?: unknown) => at.ask(key, method, path, body),
    hangUp: (at: Engine) => at.ask(key, "POST", `/v1/calls/${id}/actions/hangup`, {}),
    find
  }
})

interface Call {
  readonly status: string
  readonly end_reason: string | null
}

const unavailable = ({ status, json }: TestServer.Answer): boolean =>
  status === 503 && (json as { readonly error: { readonly code: string } }).error.code === "service_unavailable"

describe("A service that loses one of its partitions to another process", () => {
  layer(Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))(TestDatabase.layer), {
    timeout: "60 seconds",
    excludeTestServices: true
  })((it) => {
    it.effect("answers 503 there and lets go of its calls, which the other recovers; elsewhere it goes on", () =>
      Effect.gen(function* () {
        const first = yield* SimulatedService.start("first", [0, 1])
        const stays = yield* tenant(first, 0, "+12025550150")
        const goes = yield* tenant(first, 1, "+12025550151")
        expect(yield* first.liveCalls).toBe(2)

        const second = yield* SimulatedService.start("second", [1])
        expect(yield* goes.find(second)).toMatchObject({ status: "failed", end_reason: "carrier_error" })
        // The first process learns of it by its next write, here a hangup, which must not be reported as done.
        const refused = yield* goes.hangUp(first)
        expect(unavailable(refused), refused.text).toBe(true)
        expect(yield* first.liveCalls).toBe(1)
        for (const [method, path, body] of [
          ["POST", "/v1/calls", { from: "+12025550151", to: neverAnswers }],
          ["POST", "/v1/numbers/order", { phone_numbers: ["+12025550152"], country_code: "US", number_type: "local" }],
          ["POST", "/v1/webhook-subscriptions", { target_url: "https://x.example", event_types: ["*"] }],
          ["POST", "/v1/api-keys", { name: "another" }],
          ["GET", "/v1/quota", undefined]
        ] as const) {
          const answer = yield* goes.asks(first, method, path, body)
          expect(unavailable(answer), `${method} ${path}: ${answer.status} ${answer.text}`).toBe(true)
        }
        // A mere read comes from the rows.
        expect(yield* goes.find(first)).toMatchObject({ status: "failed", end_reason: "carrier_error" })
        expect(yield* goes.place(second)).toBe(201)

        expect(yield* stays.find(first)).toMatchObject({ status: "ringing", end_reason: null })
        expect((yield* stays.hangUp(first)).status).toBe(200)
        expect(yield* stays.place(first)).toBe(201)
        expect(yield* second.liveCalls).toBe(1)
      }).pipe(Effect.scoped)
    )
  })
})
