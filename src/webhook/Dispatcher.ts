import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as LogOnce from "../runtime/process/LogOnce.ts"
import * as Supervised from "../runtime/process/Supervised.ts"
import type { SubscriptionId } from "../domain/Id.ts"
import * as FairShare from "../domain/fair/FairShare.ts"
import * as RoundRobin from "../domain/fair/RoundRobin.ts"
import type { Egress } from "../ports/egress/Egress.ts"
import * as Batches from "../runtime/store/Batches.ts"
import type { WebhookEndpointRef } from "../runtime/store/journal/ClaimedDeliveries.ts"
import { Journal } from "../runtime/store/journal/Journal.ts"
import type { Vault } from "../runtime/store/vault/Vault.ts"
import * as DeliveryAttempt from "./attempt/DeliveryAttempt.ts"
import * as Claimer from "./claim/Claimer.ts"
import * as Advance from "./claim/Advance.ts"
import * as ClockSteps from "./claim/ClockSteps.ts"
import * as DeliveryMetrics from "./claim/DeliveryMetrics.ts"
import * as DeliveryQueue from "./claim/DeliveryQueue.ts"
import * as DueStatement from "./claim/DueStatement.ts"
import * as FailingEndpoints from "./attempt/FailingEndpoints.ts"
import * as FanOut from "./claim/FanOut.ts"
import * as LiveEndpoints from "./claim/LiveEndpoints.ts"
import * as OutcomeWriter from "./attempt/OutcomeWriter.ts"
import * as RetryPolicy from "./attempt/RetryPolicy.ts"
import * as Starts from "./claim/Starts.ts"

/** The most deliveries that are claimed at once. */
export const defaultMaxUnderWay = 2_048

export interface Options {
  /** The version of this service, for `User-Agent`. */
  readonly version: string
  /** Disables an endpoint that has failed for too long, with the reason. Must not fail. */
  readonly disable: (id: SubscriptionId, because: string) => Effect.Effect<void>
  /** After how many days of failures an endpoint is disabled; null: never. */
  readonly disableAfterDays: number | null
  /** Delays before attempts 2, 3, …; the schedule of guide/webhooks.md#deliveries unless a test shortens it. */
  readonly delaysMs?: ReadonlyArray<number>
  /** The time between two looks for due rows: retries, leases that ran out, hints that got lost. */
  readonly pollMs?: number
  readonly idleMs?: number
  /** The most live endpoints. Tenants share them, and the next look at due rows finds the others again. */
  readonly maxLive?: number
  /** The most deliveries that are claimed at once, over all endpoints; tenants share them. */
  readonly maxUnderWay?: number
  /** How long closing lets attempts finish. Those that are cut off are made again after the next start. */
  readonly drainMs?: number
}

/**
 * Delivers the events of commits (src/webhook/README.md#fan-out): a supervised fiber for each endpoint with work, one
 * claimer and one writer of outcomes for all of them, and one look at due rows a second. A delivery that a commit has
 * claimed begins at once.
 *
 * The rows are authoritative. A hint of the journal only starts the work sooner. A retry is due by its row, so nothing
 * sleeps for 24 hours and a restart loses nothing. A process that dies between a request and its outcome leaves a
 * `sending` row, which is attempted again: at least once, never lost. Each claim reads URL and secret, so a change of a
 * subscription applies from the next attempt on.
 */
export const layer = (options: Options): Layer.Layer<never, never, SqlClient.SqlClient | Journal | Egress | Vault> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const {
        drainMs = 2_000,
        idleMs = 10_000,
        maxLive = 4_096,
        maxUnderWay = defaultMaxUnderWay,
        pollMs = 1_000
      } = options
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const shares = FairShare.counted({ capacity: maxUnderWay })
      const starts = Starts.make(maxUnderWay)
      const show = yield* DeliveryMetrics.make
      const looking = LogOnce.make({
        fails: "nobody can look for due deliveries",
        works: "due deliveries are looked for again"
      })
      let isClosing = false
      let looks = 0

      const attempt = yield* DeliveryAttempt.make({
        version: options.version,
        delaysMs: options.delaysMs ?? RetryPolicy.schedule
      })
      const disabling = yield* Batches.make<FailingEndpoints.Failed>({
        name: "the disabling of webhook endpoints",
        limit: 1,
        serve: Effect.forEach(({ id, ...failed }) => options.disable(id, FailingEndpoints.reason(failed)), {
          discard: true
        }),
        // The endpoint's next failure offers it again.
        died: () => undefined
      })
      const writer = yield* OutcomeWriter.make({
        wake: (made) => wakeAll(made),
        rule: { afterDays: options.disableAfterDays, attempts: FailingEndpoints.attempts },
        failed: disabling.offer
      })
      const fanOut = yield* FanOut.make({ wake: (made) => wakeAll(made) })
      const claimer = yield* Claimer.make({
        reserve: (tenantId, wanted) => (isClosing ? 0 : shares.takeUpTo(tenantId, wanted)),
        giveBack: shares.giveBack
      })

      const release = (partition: number, endpoint: string | null) =>
        sql.withTransaction(sql.unsafe(DeliveryQueue.release, [partition, endpoint]))

      const endpoints = yield* LiveEndpoints.make({
        maxLive,
        idleMs,
        shares,
        holds: (partition) => journal.partitions().includes(partition),
        claim: claimer.claim,
        placesFreed: claimer.look,
        deliver: (delivery, isFollowed) =>
          starts.within(delivery.tenantId)(
            Effect.flatMap(attempt(delivery), (outcome) => {
              if (outcome === null) return Effect.void
              if (isFollowed()) writer.hurry()
              return writer.write(outcome)
            })
          ),
        release
      })

      const wakeAll = (made: Iterable<WebhookEndpointRef>): void => {
        for (const { endpoint, partition, tenantId } of made)
          if (endpoint === null) fanOut.look()
          else {
            endpoints.wake(endpoint, tenantId, partition)
            writer.hurry()
          }
      }

      const { followed, steps } = yield* ClockSteps.make
      const follow = yield* Advance.make
      const look = Effect.gen(function* () {
        for (const step of yield* steps) {
          yield* Effect.logWarning("the clock of the database was set back; deliveries follow it", {
            ms: step.backMs,
            partition: step.partition
          })
          yield* followed(yield* follow(step))
        }
        looks++
        const due: Array<DueStatement.Due> = []
        for (const partition of journal.partitions())
          due.push(...(yield* sql.unsafe<DueStatement.Due>(DueStatement.due, [partition, startOf(looks)])))
        wakeAll(inTurns(due))
        yield* show({ live: endpoints.size(), underWay: starts.underWay(), claimed: shares.used(), due })
      })

      yield* journal.onPartitionLost(endpoints.leave)
      // This reads all waiting rows. If that takes too long, interrupted attempts become due when their leases end.
      for (const partition of journal.partitions())
        yield* Effect.ignore(release(partition, null), { log: "Warn", message: notReleased })
      yield* journal.onDeliveries({
        offer: endpoints.offer,
        made: ({ endpoints: waiting, handed, sinceMs }) => {
          for (const delivery of handed) endpoints.handOver(delivery, sinceMs)
          wakeAll(waiting)
        }
      })
      yield* Supervised.fork(
        "the look at due deliveries",
        look.pipe(
          Effect.matchEffect({ onFailure: looking.failed, onSuccess: () => looking.worked }),
          Effect.andThen(Effect.sleep(pollMs)),
          Effect.forever
        )
      )
      yield* Effect.addFinalizer(() => {
        isClosing = true
        endpoints.close()
        return Effect.sleep("10 millis").pipe(
          Effect.repeat({ until: () => starts.underWay() === 0 }),
          Effect.timeoutOption(drainMs)
        )
      })
    })
  )

const notReleased = "claims of the process before this one return with their leases"

/** The name of an endpoint at which a look begins. Each look begins at another one. */
const startOf = (look: number): string => `svc_sub_${((look * 101) % 256).toString(16).padStart(2, "0")}`

/** Orders the endpoints in turns by tenant, because there may be no room for all. */
const inTurns = (due: ReadonlyArray<DueStatement.Due>): ReadonlyArray<DueStatement.Due> => {
  const turns = RoundRobin.make<DueStatement.Due>()
  for (const one of due) turns.add(one.tenantId, one)
  return turns.take(due.length, () => true)
}
