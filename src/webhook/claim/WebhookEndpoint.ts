import { Effect, FiberSet, Option, Queue } from "effect"
import type { TenantId } from "../../domain/Id.ts"
import type { Delivery } from "../attempt/DeliveryAttempt.ts"
import type * as Claimer from "./Claimer.ts"
import * as WebhookEndpointMachine from "./WebhookEndpointMachine.ts"
import * as Outage from "../../runtime/store/Outage.ts"

type Input = WebhookEndpointMachine.Input<Delivery>

/** The mailbox of one endpoint, and the fiber that reads it. */
export interface WebhookEndpoint {
  readonly partition: number
  readonly tenantId: TenantId
  /** Hints that rows are due. Several waiting hints count as one. */
  readonly workWaits: () => void
  /** Takes a delivery that was made as already claimed, and has its share of all places. */
  readonly handOver: (delivery: Delivery) => void
  readonly freePlaces: () => number
  /** Runs until the endpoint was idle for `idleMs`. */
  readonly run: Effect.Effect<void>
  /** Called when the fiber has ended. Gives back the places of claimed deliveries that are not finished. */
  readonly close: () => void
}

/**
 * Makes one attempt; completes when its outcome is written. `isFollowed`: true when another delivery may wait for that.
 */
export type Deliver = (delivery: Delivery, isFollowed: () => boolean) => Effect.Effect<void>

/**
 * The shell of an endpoint: one fiber, a mailbox, `WebhookEndpointMachine`, and a fiber for each attempt under way.
 *
 * The mailbox holds at most one hint, one claim, the deliveries that one batch of commits hands over, and one message
 * for each place. An attempt that dies of a defect frees its place; its row becomes due when its lease ends.
 * Interrupting `run` interrupts the attempts.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly id: string
  readonly tenantId: TenantId
  readonly partition: number
  readonly idleMs: () => number
  readonly claim: (request: Claimer.Request) => void
  readonly deliver: Deliver
  readonly giveBack: (places: number) => void
  /**
   * Called right after the last look at the mailbox, in the same synchronous step, so that no hint is lost in between.
   */
  readonly stopped: () => void
}) {
  const { partition, tenantId } = options
  const mailbox = yield* Queue.unbounded<Input>()
  let state: Parameters<typeof WebhookEndpointMachine.step<Delivery>>[0] = WebhookEndpointMachine.initial
  let hinted = false
  /** The number of deliveries that have a place, from their claim to their outcome. */
  let placed = 0
  let isClosed = false
  /** The number of deliveries that were handed over and that the machine has not seen yet. */
  let coming = 0

  const tell = (input: Input): void => void Queue.offerUnsafe(mailbox, input)
  const take = (deliveries: number): void => {
    if (isClosed) options.giveBack(deliveries)
    else placed += deliveries
  }
  const finish = (delivery: Delivery): void => {
    if (!isClosed) {
      placed--
      options.giveBack(1)
    }
    tell({ type: "attempt_finished", id: delivery.id })
  }
  const answer = (claim: Claimer.Claim): void => {
    take(claim.deliveries.length)
    tell({ type: "claimed", ...claim })
  }

  const isFollowed = (): boolean => hinted || WebhookEndpointMachine.isFollowed(state)

  const deliver = (delivery: Delivery) =>
    options.deliver(delivery, isFollowed).pipe(
      Effect.catchCause((cause) => Outage.logged("a webhook attempt died", cause, { deliveryId: delivery.id })),
      Effect.ensuring(Effect.sync(() => finish(delivery)))
    )

  const handle = (input: Input): ReadonlyArray<Delivery> => {
    if (input.type === "work_waits") hinted = false
    if (input.type === "handed_over") coming--
    const step = WebhookEndpointMachine.step(state, input)
    state = step.state
    if (step.claim !== null) options.claim({ ...step.claim, partition, tenantId, endpoint: options.id, answer })
    return step.attempts
  }

  const run = Effect.gen(function* () {
    const attempts = yield* FiberSet.make()
    while (true) {
      const next = WebhookEndpointMachine.isIdle(state)
        ? yield* Effect.timeoutOption(Queue.take(mailbox), options.idleMs())
        : Option.some(yield* Queue.take(mailbox))
      if (Option.isSome(next))
        for (const delivery of handle(next.value)) yield* FiberSet.run(attempts, deliver(delivery))
      else if (Queue.sizeUnsafe(mailbox) === 0) {
        options.stopped()
        return
      }
    }
  }).pipe(Effect.scoped, Effect.annotateLogs({ endpoint: options.id }))

  return {
    partition,
    tenantId,
    workWaits: () => {
      if (hinted) return
      hinted = true
      tell({ type: "work_waits" })
    },
    handOver: (delivery) => {
      take(1)
      coming++
      tell({ type: "handed_over", delivery })
    },
    freePlaces: () => WebhookEndpointMachine.freePlaces(state) - coming,
    run,
    close: () => {
      if (isClosed) return
      isClosed = true
      options.giveBack(placed)
    }
  } satisfies WebhookEndpoint
})
