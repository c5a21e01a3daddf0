import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier, type CarrierCommand, CarrierSink } from "../../../src/carrier/Carrier.ts"
import type { TenantId } from "../../../src/domain/Id.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as CarrierSample from "../../support/fake/CarrierSample.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"
import * as Sample from "./CallSample.ts"

const world = Calls.layer({ maxCallSecs: 3600 }).pipe(
  Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
  Layer.provideMerge(Features.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

const operator = { type: "operator", name: "test" } as const

/** Locks the rows of tenants until the gate opens: a change of status waits, and with it the account. */
const stick = Effect.fnUntraced(function* (tenantId: TenantId, gate: Deferred.Deferred<void>) {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* Accounts
  const held = yield* Deferred.make<void>()
  const lock = yield* Effect.forkChild(
    Effect.gen(function* () {
      yield* sql`SELECT 1 FROM tenant WHERE id = ${tenantId} FOR UPDATE`
      yield* Deferred.succeed(held, undefined)
      yield* Deferred.await(gate)
    }).pipe(sql.withTransaction)
  )
  yield* Deferred.await(held)
  const change = yield* Effect.forkChild(accounts.setQuota(tenantId, { concurrentCallLimit: 7 }, operator))
  while (
    (yield* sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE tenant%'`)
      .length === 0
  )
    yield* Effect.sleep("5 millis")
  return { lock, change }
})

const order = (phoneNumber: string) => ({
  phoneNumbers: [phoneNumber],
  countryCode: "US",
  numberType: "local" as const,
  routeId: null,
  customerReference: null
})

describe("A call and its account", () => {
  layer(world, { excludeTestServices: true })((it) => {
    // The end of a call once waited, inside its commit, for the account to handle it: a BYE got its 200 only then.
    it.effect("an account that is stuck delays no BYE; when it goes on, it hears of the end", () =>
      Effect.gen(function* () {
        const sink = yield* CarrierSink
        const accounts = yield* Accounts
        const dialled: Array<CarrierCommand> = []
        const adapter = CarrierSample.adapter((command) => Effect.sync(() => void dialled.push(command)))
        yield* (yield* Carrier).register("simulator", adapter)
        const { caller, id } = yield* Features.newTenant()
        yield* (yield* Numbers).order(caller, order("+12025550150"), null)
        yield* (yield* Calls).place(caller, Sample.request("+12025550150"), null)
        const [dial] = dialled
        expect((yield* accounts.overview(id)).tally.liveCalls).toBe(1)
        const gate = yield* Deferred.make<void>()
        const { change, lock } = yield* stick(id, gate)
        const bye = { type: "ended", cause: "hangup", sipStatus: null, by: "far" } as const
        yield* sink
          .tell(dial?.callId ?? Ids.call(""), CarrierSample.numbered()(dial?.legId ?? Ids.leg(""), Date.now(), bye))
          .pipe(Effect.timeout("20 seconds"))
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(lock)
        yield* Fiber.join(change)
        // The account takes its messages in order, so this request is answered after the end.
        yield* accounts.setQuota(id, { concurrentCallLimit: 8 }, operator)
        expect((yield* accounts.overview(id)).tally.liveCalls).toBe(0)
      })
    )
  })
})
