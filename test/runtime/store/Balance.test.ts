import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import { empty, Journal, type MoneyRow } from "../../../src/runtime/store/journal/Journal.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** The tenants in the order of their ids; the table has their balances in the opposite order. */
const tenants = Array.from({ length: 400 }, (_, n) => Id.deriveUuid("balance test", "tenant", n)).toSorted()
const middle = tenants[200] ?? ""

const amounts = (name: string): ReadonlyArray<MoneyRow> =>
  tenants.map((tenantId, n) => ({
    id: Id.derive(name, "ledger", n),
    tenantId,
    cause: `${name}:${n}`,
    type: "adjustment",
    amountCents: 1,
    description: "test",
    referenceType: null,
    referenceId: null,
    at: 1_700_000_000_000
  }))

layer(JournalWriter.layer({ partitions: [0], onLost: () => {} }).pipe(Layer.provideMerge(TestDatabase.layer)), {
  timeout: "60 seconds",
  excludeTestServices: true
})("Balances", (it) => {
  it.effect("commits over many tenants lock them in one order, whatever the planner prefers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      for (const id of tenants.toReversed()) {
        yield* sql`INSERT INTO tenant (id, name, slug, status, created_at, updated_at) VALUES (${id}, 'T', ${id}, 'active', now(), now())`
        yield* sql`INSERT INTO balance (tenant_id, balance_cents, updated_at) VALUES (${id}, 0, now())`
      }
      yield* sql`ANALYZE balance`

      // One statement reads balances in the order of the table, the other one by one in the order of tenants: each gets
      // as far as the middle, where both wait for a third.
      const commit = (name: string, ...planner: ReadonlyArray<string>) =>
        sql.withTransaction(
          Effect.gen(function* () {
            for (const setting of planner) yield* sql`SET LOCAL ${sql.literal(setting)} = off`
            yield* journal.commitWithin({ ...empty, money: amounts(name) })
          })
        )
      const waiting = sql<{ readonly n: number }>`
        SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.pipe(Effect.map((rows) => rows[0]?.n ?? 0))
      const held = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const third = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT FROM balance WHERE tenant_id = ${middle} FOR UPDATE`
            yield* Deferred.succeed(held, undefined)
            yield* Deferred.await(release)
          })
        )
      )
      yield* Deferred.await(held)
      const byTable = yield* Effect.forkChild(
        commit("table", "enable_nestloop", "enable_mergejoin", "enable_indexscan", "enable_bitmapscan")
      )
      const byTenant = yield* Effect.forkChild(
        commit("tenant", "enable_hashjoin", "enable_mergejoin", "enable_seqscan")
      )
      yield* waiting.pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: (n) => n === 2 }),
        Effect.timeout("20 seconds")
      )
      yield* Deferred.succeed(release, undefined)
      yield* Effect.all([Fiber.join(third), Fiber.join(byTable), Fiber.join(byTenant)])
      const [sum] = yield* sql<{ readonly cents: number }>`SELECT sum(balance_cents)::int AS cents FROM balance`
      expect(sum?.cents).toBe(2 * tenants.length)
    })
  )
})
