import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Proofs } from "../../../src/money/proof/Proof.ts"
import { StatementLimit } from "../../../src/runtime/store/StatementLimit.ts"
import * as Database from "../load/Database.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as Service from "../load/Service.ts"
import * as Seed from "./Seed.ts"

const proofs = 1_000

/** A proof for each of the tenants in turn, and a day's seal, over a million calls of a hundred tenants. */
export const run = Effect.gen(function* () {
  const url = yield* Database.fresh
  const context = yield* Layer.build(Service.layer(url, Service.nowhere))
  return yield* measure.pipe(Effect.provide(context))
})

const elapsed = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const began = performance.now()
    const value = yield* work
    return [performance.now() - began, value] as const
  })

const measure = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const doors = yield* Proofs
  const { tenants } = yield* Seed.calls({ calls: 1_000_000, tenants: 100, days: 90 }).pipe(
    Effect.provideService(StatementLimit, Infinity)
  )
  const [allMs] = yield* elapsed(doors.seal)
  // Unseals a day's entries again: the calls of the last of ninety days.
  yield* sql`DELETE FROM ledger_seal_root`
  yield* sql`
    UPDATE ledger_seal s SET day = day - 1, through_ordinal = l.ordinal, through_at = l.created_at,
      entries = total_entries - l.behind, total_entries = total_entries - l.behind, balance_cents = l.balance_after_cents
    FROM balance b CROSS JOIN LATERAL (
      SELECT ordinal, created_at, balance_after_cents, place - 1 AS behind FROM (
        SELECT *, row_number() OVER (ORDER BY ordinal DESC) AS place FROM ledger
        WHERE tenant_id = b.tenant_id AND created_at > now() - interval '2 days'
      ) recent WHERE created_at < now() - interval '1 day' ORDER BY ordinal DESC LIMIT 1
    ) l WHERE s.tenant_id = b.tenant_id`
  const timesOf = Effect.forEach(Array.from({ length: proofs }), (_, index) => {
    const tenant = tenants[index % tenants.length]
    return tenant === undefined
      ? Effect.die("no tenant")
      : Effect.map(elapsed(doors.proof(tenant.id, null)), ([ms]) => ms)
  })
  yield* timesOf
  const times = (yield* timesOf).toSorted((one, other) => one - other)
  const p99 = Rounds.percentile(times, 0.99)
  const [sealMs] = yield* elapsed(doors.seal)
  const [sealed] = yield* sql<{ readonly entries: number }>`
    SELECT entries::float8 AS entries FROM ledger_seal_root ORDER BY number DESC LIMIT 1`
  const [verifyMs, verified] = yield* elapsed(doors.verify(tenants[0]?.id ?? null))
  return [
    Report.against("a proof with a day behind its seal, p99 ms", Report.number(p99), "< 50", p99 < 50),
    Report.figure("  median ms", Report.number(Rounds.percentile(times, 0.5))),
    Report.figure(
      `sealing a day (${Report.number(sealed?.entries ?? 0)} entries of 100 tenants), ms`,
      Report.number(sealMs)
    ),
    Report.figure("sealing all at once, ms", Report.number(allMs)),
    Report.figure(`verifying a tenant (${Report.number(verified.entries)} entries), ms`, Report.number(verifyMs))
  ]
})
