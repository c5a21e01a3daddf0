import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import type { CallId } from "../../../src/domain/Id.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as CarrierSample from "../../support/fake/CarrierSample.ts"
import * as Features from "../../support/service/Features.ts"
import * as Sample from "./CallSample.ts"

const world = Calls.layer({ maxCallSecs: 3600 }).pipe(
  Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
  Layer.provideMerge(Features.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

/** Finds a batch of commits that waits; heartbeats and jobs may wait for that row too. */
const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%SELECT o.partition FROM journal_owner%'`

/** Stops all writes until the gate opens: a statement that began waits, and later ones wait for their turn. */
const stop = Effect.fnUntraced(function* (gate: Deferred.Deferred<void>) {
  const sql = yield* SqlClient.SqlClient
  const held = yield* Deferred.make<void>()
  const lock = yield* Effect.forkChild(
    Effect.gen(function* () {
      yield* sql`SELECT 1 FROM journal_owner FOR UPDATE`
      yield* Deferred.succeed(held, undefined)
      yield* Deferred.await(gate)
    }).pipe(sql.withTransaction)
  )
  yield* Deferred.await(held)
  return lock
})

describe("Calls while nothing can be stored", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("what was refused with 503 while it waited for its turn is not done when the outage ends", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const calls = yield* Calls
        const dialled: Array<string> = []
        const adapter = CarrierSample.adapter((command) => Effect.sync(() => void dialled.push(command.type)))
        yield* (yield* Carrier).register("simulator", adapter)
        const { caller, id } = yield* Features.newTenant()
        yield* (yield* Numbers).order(
          caller,
          {
            phoneNumbers: ["+12025550150"],
            countryCode: "US",
            numberType: "local",
            routeId: null,
            customerReference: null
          },
          null
        )
        const place = (customerReference: string) =>
          calls.place(caller, Sample.request("+12025550150", { customerReference }), null)
        const before = JSON.parse((yield* place("before")).body ?? "") as { readonly id: CallId }
        const gate = yield* Deferred.make<void>()
        const lock = yield* stop(gate)
        const first = yield* Effect.forkChild(Effect.exit(place("first")))
        while ((yield* sql.unsafe(waiting)).length === 0) yield* Effect.sleep("5 millis")
        const refused = yield* Effect.forEach(["one", "two", "three"], (name) => Effect.flip(place(name)), {
          concurrency: 3
        })
        expect(refused.map(({ code }) => code)).toStrictEqual([
          "service_unavailable",
          "service_unavailable",
          "service_unavailable"
        ])
        // The operator learns that the call continues, and it does.
        expect((yield* Effect.flip(calls.hangUp(before.id))).code).toBe("service_unavailable")
        expect((yield* calls.endAll(id, "tenant_suspended")).refused).toContainEqual({
          callId: before.id,
          code: "service_unavailable"
        })
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(lock)
        // The database had this one already, so it was not refused: only its answer was late.
        expect(Exit.isSuccess(yield* Fiber.join(first))).toBe(true)
        yield* place("after")
        expect((yield* calls.find(id, before.id)).status).toBe("initiated")
        const rows = yield* sql<{ readonly reference: string }>`
          SELECT customer_reference AS reference FROM call WHERE tenant_id = ${id} ORDER BY initiated_at, id`
        const placed = rows.map(({ reference }) => reference)
        expect(placed.toSorted()).toStrictEqual(["after", "before", "first"])
        expect(dialled.length).toBe(3)
        expect((yield* (yield* Accounts).overview(id)).tally.liveCalls).toBe(3)
      })
    )
  })
})
