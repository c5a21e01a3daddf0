import { Effect, FiberSet, Option, Queue } from "effect"
import type * as Claimer from "./Claimer.ts"
import type { Delivery } from "./DeliveryQueue.ts"
import * as WebhookEndpointMachine from "./WebhookEndpointMachine.ts"

type Input = WebhookEndpointMachine.Input<Delivery>

/** The mailbox of one endpoint and the fiber behind it. */
export interface WebhookEndpoint {
  readonly partition: number
  /** A hint that rows are due. Several hints that wait count as one. */
  readonly workWaits: () => void
  /** Runs until it was idle for `idleMs`. */
  readonly run: Effect.Effect<void>
}

/**
 * The shell of an endpoint: one fiber, a mailbox, `WebhookEndpointMachine`, and a fiber for each attempt under way.
 *
 * The mailbox holds at most one hint, one claim, and one message for each place. An attempt that dies of a defect frees
 * its place; its row returns when its lease ends. Whoever interrupts `run` interrupts the attempts.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly id: string
  readonly partition: number
  readonly idleMs: number
  readonly claim: (request: Claimer.Request) => void
  /** One attempt; completes when its outcome is durable. */
  readonly deliver: (delivery: Delivery) => Effect.Effect<void>
  /**
   * Called right after the last look at the mailbox, in the same synchronous step, so that no hint is lost in between.
   */
  readonly stopped: () => void
}) {
  const mailbox = yield* Queue.unbounded<Input>()
  let state = WebhookEndpointMachine.initial
  let hinted = false

  const tell = (input: Input): void => void Queue.offerUnsafe(mailbox, input)
  const answer = (claim: Claimer.Claim): void => tell({ type: "claimed", ...claim })

  const deliver = (delivery: Delivery) =>
    options.deliver(delivery).pipe(
      Effect.catchCause((cause) => Effect.logError("a webhook attempt died", cause)),
      Effect.ensuring(Effect.sync(() => tell({ type: "attempt_finished", id: delivery.id }))),
      Effect.annotateLogs({ deliveryId: delivery.id })
    )

  const handle = Effect.fnUntraced(function* (input: Input, attempts: FiberSet.FiberSet) {
    if (input.type === "work_waits") hinted = false
    const step = WebhookEndpointMachine.step(state, input)
    state = step.state
    if (step.claim !== null)
      options.claim({ ...step.claim, partition: options.partition, endpoint: options.id, answer })
    for (const delivery of step.attempts) yield* FiberSet.run(attempts, deliver(delivery))
  })

  const run = Effect.gen(function* () {
    const attempts = yield* FiberSet.make()
    while (true) {
      const next = WebhookEndpointMachine.isIdle(state)
        ? yield* Effect.timeoutOption(Queue.take(mailbox), options.idleMs)
        : Option.some(yield* Queue.take(mailbox))
      if (Option.isSome(next)) yield* handle(next.value, attempts)
      else if (Queue.sizeUnsafe(mailbox) === 0) {
        options.stopped()
        return
      }
    }
  }).pipe(Effect.scoped, Effect.annotateLogs({ endpoint: options.id }))

  return {
    partition: options.partition,
    workWaits: () => {
      if (hinted) return
      hinted = true
      tell({ type: "work_waits" })
    },
    run
  } satisfies WebhookEndpoint
})
