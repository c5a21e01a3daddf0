import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as LogOnce from "../../runtime/process/LogOnce.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import * as Batches from "../../runtime/store/Batches.ts"
import { leaseMs } from "../../runtime/store/journal/ClaimedDeliveries.ts"
import * as HeldPartitions from "../../runtime/store/owner/HeldPartitions.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"
import * as TurnBatches from "../../runtime/store/TurnBatches.ts"
import type { Delivery } from "../attempt/DeliveryAttempt.ts"
import * as ClaimStatement from "./ClaimStatement.ts"
import type { ClaimWanted } from "./WebhookEndpointMachine.ts"

export interface Request extends ClaimWanted {
  readonly partition: number
  readonly tenantId: TenantId
  readonly endpoint: string
  readonly answer: (claim: Claim) => void
}

export interface Claim {
  readonly deliveries: ReadonlyArray<Delivery>
  readonly more: boolean
}

const batchLimit = 64

/** The result when the claim died. */
const unknown: Claim = { deliveries: [], more: true }

/** The result when another process has the partition. */
const notOurs: Claim = { deliveries: [], more: false }

/**
 * One fiber claims for every endpoint: requests that come while a statement runs share the next one, tenants in turns.
 *
 * A request waits until its tenant has a share of all places (`reserve`). At most one request for each endpoint waits,
 * so there are never more than live endpoints. Requests wait while the database is unreachable.
 */
export const make = Effect.fnUntraced(function* (options: {
  /** Takes up to `wanted` places for a tenant; gives how many. */
  readonly reserve: (tenantId: TenantId, wanted: number) => number
  readonly giveBack: (tenantId: TenantId, places: number) => void
}) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const granted = new Map<Request, number>()
  const said = LogOnce.make({
    fails: "webhook deliveries cannot be claimed",
    works: "webhook deliveries are claimed again"
  })

  const run = Effect.fnUntraced(function* (batch: ReadonlyArray<Request>) {
    const wanted = batch.map((request): ClaimStatement.Wanted => {
      const { after, endpoint, partition, tenantId, underWay } = request
      return { partition, tenantId, endpoint, capacity: granted.get(request) ?? 0, after, underWay }
    })
    const sinceMs = yield* Monotonic.now
    const rows = yield* sql
      .unsafe<ClaimStatement.ClaimedRow>(ClaimStatement.claim, [
        JSON.stringify(wanted),
        leaseMs,
        ...HeldPartitions.parameters(journal)
      ])
      .pipe(
        // Rows that a silent connection may still claim become due when their leases end.
        Effect.timeout(Batches.silence),
        Effect.tapError((error) => said.failed(error.message)),
        Effect.retry(Schedule.spaced("500 millis")),
        Effect.tap(said.worked),
        Effect.orDie
      )
    const claims = new Map<string, { more: boolean; readonly deliveries: Array<Delivery> }>()
    for (const { id, more, ...rest } of rows) {
      const claim = claims.get(rest.endpoint) ?? { more, deliveries: [] }
      claims.set(rest.endpoint, claim)
      if (id !== null) claim.deliveries.push({ id, sinceMs, ...rest })
    }
    for (const request of batch) settle(request, claims.get(request.endpoint) ?? notOurs)
  })

  /** A delivery keeps its place; places that the claim did not use are given back. */
  const settle = (request: Request, claim: Claim): void => {
    const places = granted.get(request)
    if (places === undefined) return
    granted.delete(request)
    options.giveBack(request.tenantId, places - claim.deliveries.length)
    request.answer(claim)
  }

  const batches = yield* TurnBatches.make<Request>({
    name: "the claimer of webhook deliveries",
    limit: batchLimit,
    pauseMs: 2,
    admits: (_tenant, request) => {
      const places = options.reserve(request.tenantId, request.capacity)
      if (places > 0) granted.set(request, places)
      return places > 0
    },
    serve: run,
    died: (request) => settle(request, unknown)
  })

  return {
    claim: (request: Request): void => batches.offer(request.tenantId, request),
    look: batches.look
  }
})
