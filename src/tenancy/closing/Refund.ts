import { Effect } from "effect"
import { TenantId } from "../../domain/Id.ts"
import { Funding } from "../../money/funding/Funding.ts"
import type { Job } from "../../runtime/job/Jobs.ts"
import { Plans } from "../../money/plan/Plan.ts"
import * as LiveCalls from "./LiveCalls.ts"

/** The key of a job is the tenant and the round of its payout. */
export const kind = "closing.refund"

export const keyOf = (tenantId: TenantId, round: number): string => `${tenantId} ${round}`

/**
 * Refunds the rest of a closed tenant's balance, guide/tenants.md#refund-of-the-balance, when the last call is over and
 * paid, and the plan has covered its part and ended.
 */
export const make = Effect.gen(function* () {
  const funding = yield* Funding
  const plans = yield* Plans
  const none = yield* LiveCalls.none

  return {
    kind,
    concurrency: 4,
    timeoutMs: 300_000,
    retry: { attempts: Infinity, firstMs: 2_000, maxMs: 300_000 },
    run: Effect.fn("Closings.refund")(function* ({ key }) {
      const [id = "", round] = key.split(" ")
      const tenantId = TenantId.make(id)
      yield* none(tenantId)
      yield* plans.close(tenantId)
      yield* funding.runPayout(tenantId, Number(round))
    })
  } satisfies Job
})
