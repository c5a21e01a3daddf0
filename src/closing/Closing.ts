import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../domain/Id.ts"
import { Jobs } from "../job/Jobs.ts"
import * as Erasure from "./Erasure.ts"

const dayMs = 86_400_000

/** So many days a closed tenant can still be exported with its recordings. */
const defaultDays = 30

/** What becomes of a tenant that is closed, guide/tenants.md#closing. */
export class Closings extends Context.Service<
  Closings,
  {
    /**
     * Its recordings and transcripts are erased after so many days; 0: at once. Null: as it was said before, or after 30
     * days. Nothing is erased unless the tenant is closed then.
     */
    readonly eraseAfter: (tenantId: TenantId, days: number | null) => Effect.Effect<void>
  }
>()("trunkline/closing/Closings") {
  static readonly layer = Layer.effect(
    Closings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const jobs = yield* Jobs
      jobs.declare(yield* Erasure.make)
      return Closings.of({
        eraseAfter: (tenantId, days) =>
          jobs
            .put({
              kind: Erasure.kind,
              key: tenantId,
              tenantId,
              inMs: (days ?? defaultDays) * dayMs,
              moves: days !== null
            })
            .pipe(sql.withTransaction, Effect.orDie)
      })
    })
  )
}
