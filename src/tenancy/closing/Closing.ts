import { Context, Effect, Layer } from "effect"
import type { ApiError } from "../../domain/ApiError.ts"
import type { TenantId } from "../../domain/Id.ts"
import { Funding } from "../../money/funding/Funding.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as Erasure from "./Erasure.ts"
import * as Refund from "./Refund.ts"

const dayMs = 86_400_000

/** How many days a closed tenant can still be exported with its recordings. */
const defaultDays = 30

/** How long the operator waits for a refund; then it continues after the answer. */
const patience = "15 seconds"

/** The closing of a tenant, guide/tenants.md#closing. */
export class Closings extends Context.Service<
  Closings,
  {
    /**
     * Schedules the erasure of recordings and transcripts after these days; 0: at once. Null: keeps the last schedule,
     * or takes 30 days. Nothing is erased unless the tenant is closed then.
     */
    readonly eraseAfter: (tenantId: TenantId, days: number | null) => Effect.Effect<void>
    /**
     * Refunds the rest of the balance to the tenant's cards, after its last call. It waits a while for the end of that;
     * a repetition waits for the same refund. 409 while the tenant is not closed.
     */
    readonly refund: (tenantId: TenantId) => Effect.Effect<void, ApiError>
  }
>()("trunkline/closing/Closings") {
  static readonly layer = Layer.effect(
    Closings,
    Effect.gen(function* () {
      const { transaction } = yield* Sql.make
      const jobs = yield* Jobs
      const funding = yield* Funding
      jobs.declare(yield* Erasure.make)
      jobs.declare(yield* Refund.make)
      return Closings.of({
        eraseAfter: (tenantId, days) =>
          jobs
            .enqueue({
              kind: Erasure.kind,
              key: tenantId,
              tenantId,
              inMs: (days ?? defaultDays) * dayMs,
              moves: days !== null
            })
            .pipe(transaction),
        refund: Effect.fn("Closings.refund")(function* (tenantId) {
          const { kind, keyOf } = Refund
          const round = yield* funding.requestPayout(tenantId, (made) =>
            jobs.enqueue({ kind, key: keyOf(tenantId, made), tenantId })
          )
          yield* Effect.timeoutOption(jobs.runNow(kind, keyOf(tenantId, round)), patience)
        })
      })
    })
  )
}
