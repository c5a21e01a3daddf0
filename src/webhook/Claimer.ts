import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Batches from "../store/Batches.ts"
import * as DeliveryQueue from "./DeliveryQueue.ts"
import { type ClaimWanted, places } from "./WebhookEndpointMachine.ts"

export interface Request extends ClaimWanted {
  readonly partition: number
  readonly endpoint: string
  readonly answer: (claim: Claim) => void
}

export interface Claim {
  readonly deliveries: ReadonlyArray<DeliveryQueue.Delivery>
  readonly more: boolean
}

/** Endpoints of one statement. */
const batchLimit = 128

const nothing: Claim = { deliveries: [], more: true }

/**
 * One fiber claims for every endpoint: requests that come while a statement runs share the next one.
 *
 * At most one request for each endpoint waits, so the queue is as long as there are live endpoints. Requests wait while
 * the database is away. `load` is the share of all places that is taken (0 to 1). From one half on an endpoint gets one
 * place, so that slow receivers cannot take all places from the others. At 1 nobody gets any, and the next look at due
 * rows asks again.
 */
export const make = Effect.fnUntraced(function* (options: { readonly load: () => number }) {
  const sql = yield* SqlClient.SqlClient

  const granted = (request: Request): number => {
    const load = options.load()
    if (load < 0.5) return request.room
    return load < 1 && request.room === places ? 1 : 0
  }

  const run = Effect.fnUntraced(function* (batch: ReadonlyArray<Request>) {
    const asked = batch.flatMap(({ busyLanes, endpoint, partition, room, underWay }) =>
      room > 0 ? [{ partition, endpoint, room, busyLanes, underWay }] : []
    )
    const rows =
      asked.length === 0
        ? []
        : yield* sql
            .unsafe<DeliveryQueue.ClaimedRow>(DeliveryQueue.claim, [JSON.stringify(asked), DeliveryQueue.leaseMs])
            .pipe(
              // What a silent connection may still claim returns with its lease.
              Effect.timeout(Batches.silence),
              Effect.tapError((error) => Effect.logWarning("webhook deliveries cannot be claimed", error.message)),
              Effect.retry(Schedule.spaced("500 millis")),
              Effect.orDie
            )
    const claims = new Map<string, { due: number; readonly deliveries: Array<DeliveryQueue.Delivery> }>()
    for (const { due, id, ...rest } of rows) {
      const claim = claims.get(rest.endpoint) ?? { due, deliveries: [] }
      claims.set(rest.endpoint, claim)
      if (id !== null) claim.deliveries.push({ id, ...rest })
    }
    for (const { answer, endpoint, room } of batch) {
      const claim = claims.get(endpoint)
      if (room === 0 || claim === undefined) answer(nothing)
      else answer({ deliveries: claim.deliveries, more: claim.due > claim.deliveries.length })
    }
  })

  const batches = yield* Batches.make<Request>({
    name: "the claimer of webhook deliveries",
    limit: batchLimit,
    pauseMs: 2,
    died: ({ answer }) => answer(nothing),
    serve: (batch) => run(batch.map((request) => ({ ...request, room: granted(request) })))
  })

  return { claim: batches.offer }
})
