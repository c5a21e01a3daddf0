import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, References } from "effect"
import { SqlClient } from "effect/sql"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier, CarrierSink } from "../../../src/carrier/Carrier.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as CallSample from "./CallSample.ts"
import * as Sample from "../../support/fake/CarrierSample.ts"
import * as Features from "../../support/service/Features.ts"

const world = Calls.layer({ maxCallSecs: 3600 }).pipe(
  Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
  Layer.provideMerge(Features.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

/** A carrier whose legs ring for ever, and end when they are hung up. */
const carrier = Effect.gen(function* () {
  const sink = yield* CarrierSink
  const event = Sample.numbered()
  const adapter = Sample.adapter(({ callId, legId, type }) =>
    type === "hangup"
      ? Effect.asVoid(
          Effect.forkDetach(
            sink.tell(callId, event(legId, 0, { type: "ended", cause: "cancelled", sipStatus: 487, by: "near" }))
          )
        )
      : Effect.void
  )
  yield* (yield* Carrier).register("simulator", adapter)
})

const placing = Effect.gen(function* () {
  const { caller } = yield* Features.newTenant()
  const phoneNumber = "+12025550150"
  yield* (yield* Numbers).order(
    caller,
    { phoneNumbers: [phoneNumber], countryCode: "US", numberType: "local", routeId: null, customerReference: null },
    null
  )
  const calls = yield* Calls
  const place = calls.place(caller, CallSample.request(phoneNumber), null)
  return { calls, place }
})

/** Locks `table` against reads and writes until the gate opens. */
const hold = Effect.fnUntraced(function* (table: string, gate: Deferred.Deferred<void>) {
  const sql = yield* SqlClient.SqlClient
  const held = yield* Deferred.make<void>()
  const transaction = Effect.gen(function* () {
    yield* sql.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    yield* Deferred.succeed(held, undefined)
    yield* Deferred.await(gate)
  }).pipe(sql.withTransaction)
  const fiber = yield* Effect.forkChild(transaction)
  yield* Deferred.await(held)
  return fiber
})

const waits = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    while ((yield* sql`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = ${table}::text::regclass`).length === 0)
      yield* Effect.sleep("5 millis")
  })

describe("draining", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("waits for a call that was being placed, and ends it too", () =>
      Effect.gen(function* () {
        yield* carrier
        const { calls, place } = yield* placing
        const gate = yield* Deferred.make<void>()
        const lock = yield* hold("route", gate)
        const placed = yield* Effect.forkChild(place)
        yield* waits("route")
        const drained = yield* Effect.forkChild(calls.drain(0))
        yield* Effect.sleep("100 millis")
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(lock)
        yield* Fiber.join(drained)
        yield* Fiber.join(placed)
        expect(yield* calls.liveCount).toBe(0)
      })
    )
  })

  layer(world, { excludeTestServices: true })((it) => {
    it.effect("says what it waits for, where calls may go on", () =>
      Effect.gen(function* () {
        yield* carrier
        const { calls, place } = yield* placing
        yield* place
        const lines: Array<string> = []
        const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
        yield* calls
          .drain(50)
          .pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Info"))
        expect(lines.filter((line) => line.includes("a second request to stop ends them"))).toHaveLength(1)
      })
    )
  })

  layer(world, { excludeTestServices: true })((it) => {
    it.effect("ends although the database does not answer", () =>
      Effect.gen(function* () {
        yield* carrier
        const { calls, place } = yield* placing
        yield* place
        const gate = yield* Deferred.make<void>()
        const lock = yield* hold("entity", gate)
        yield* calls.drain(0).pipe(Effect.timeout("20 seconds"))
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(lock)
      })
    )
  })
})
