import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"

/** The rows of a call from an earlier process: live, and not settled. */
const leftCall = Effect.fnUntraced(function* (tenantId: Id.TenantId) {
  const sql = yield* SqlClient.SqlClient
  const id = Id.derive(tenantId, "call")
  yield* sql`
    INSERT INTO entity (id, kind, tenant_id, partition, seq, settled, state_version, state, updated_at)
    VALUES (${id}, 'call', ${tenantId}, 0, 1, false, 1, '{"live": true}', now())`
  return id
})

const outbound = { places: 1, reservedCents: 1, heard: 0 } as const
const asked = { purpose: "outbound", offers: [1] } as const

const speakForCalls = Effect.flatMap(Accounts, (accounts) => accounts.reserving("call", () => outbound))

/** The account's balance cannot be read until the gate opens. */
const holdBalance = Effect.fnUntraced(function* (gate: Deferred.Deferred<void>) {
  const sql = yield* SqlClient.SqlClient
  const held = yield* Deferred.make<void>()
  const transaction = Effect.gen(function* () {
    yield* sql`LOCK TABLE balance IN ACCESS EXCLUSIVE MODE`
    yield* Deferred.succeed(held, undefined)
    yield* Deferred.await(gate)
  }).pipe(sql.withTransaction)
  const fiber = yield* Effect.forkChild(transaction)
  yield* Deferred.await(held)
  return fiber
})

const somebodyWaits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  while ((yield* sql`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'balance'::regclass`).length === 0)
    yield* Effect.sleep("5 millis")
})

describe("Account, guide/money.md#admission", () => {
  layer(Features.layer, { excludeTestServices: true })((it) => {
    it.effect("an account is read with what lives and with what was admitted and has no row yet", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        yield* speakForCalls
        const { id } = yield* Features.newTenant()
        yield* leftCall(id)
        const liveCalls = Effect.map(accounts.overview(id), ({ tally }) => tally.liveCalls)
        expect(yield* liveCalls).toBe(1)
        yield* accounts.reserve(id, Ids.call("in flight"), asked)
        yield* accounts.moneyMoved(id)
        expect(yield* liveCalls).toBe(2)
        yield* accounts.abandoned(id, Ids.call("in flight"))
        yield* accounts.moneyMoved(id)
        expect(yield* liveCalls).toBe(1)
      })
    )

    it.effect("a call that ends while the account is being read does not hold its place for ever", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const sql = yield* SqlClient.SqlClient
        yield* speakForCalls
        const { id } = yield* Features.newTenant()
        const call = yield* leftCall(id)
        const gate = yield* Deferred.make<void>()
        const lock = yield* holdBalance(gate)
        const admitting = yield* Effect.forkChild(accounts.reserve(id, Ids.call("another"), asked))
        yield* somebodyWaits
        yield* sql`UPDATE entity SET settled = true WHERE id = ${call}`
        yield* accounts.told(id, { from: call, n: 1, body: { type: "ended", chargedCents: 0 } })
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(lock)
        yield* Fiber.join(admitting)
        expect((yield* accounts.overview(id)).tally.liveCalls).toBe(1)
      })
    )
  })
})
