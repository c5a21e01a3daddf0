import { Cause, Deferred, Effect, Queue } from "effect"
import * as Supervised from "../process/Supervised.ts"

/** A statement without an answer for so long is given up: its connection is silent. */
export const silence = "30 seconds"

/** Where what has to go into a batch waits. */
export interface Batches<Item> {
  /** No bound here: whoever offers bounds what it has under way. */
  readonly offer: (item: Item) => void
}

/**
 * One fiber that serves what is offered, many items at a time and one batch after the other: what comes while a batch
 * is served goes into the next, in order. So under load an item costs a part of a statement.
 *
 * `serve` must not fail. When it dies all the same, its items are told so (`died`), and the next batch is served.
 */
export const make = Effect.fnUntraced(function* <Item>(options: {
  /** What the fiber does, for the log. */
  readonly name: string
  /** Items of a batch; what waits beyond goes into the next. */
  readonly limit: number
  /** Between two batches, while items gather for the next: fewer statements for a moment's delay, none after a rest. */
  readonly pauseMs?: number
  /** `rest` takes what waits behind the batch too. */
  readonly serve: (batch: ReadonlyArray<Item>, rest: Effect.Effect<ReadonlyArray<Item>>) => Effect.Effect<void>
  /** Tells whoever waits for an item that its batch died; nothing when it has its answer already. */
  readonly died: (item: Item, defect: unknown) => void
}) {
  const { died, limit, name, pauseMs = 0, serve } = options
  const waiting = yield* Queue.unbounded<Item>()
  const rest = Queue.clear(waiting)
  const serveOrTell = (batch: ReadonlyArray<Item>) =>
    Effect.catchCause(serve(batch, rest), (cause) => {
      for (const item of batch) died(item, Cause.squash(cause))
      return Effect.failCause(cause)
    })
  yield* Supervised.fork(
    name,
    Queue.takeBetween(waiting, 1, limit).pipe(
      Effect.flatMap(serveOrTell),
      Effect.andThen(pauseMs === 0 ? Effect.void : Effect.sleep(pauseMs)),
      Effect.forever
    )
  )
  return { offer: (item) => void Queue.offerUnsafe(waiting, item) } satisfies Batches<Item>
})

/** Offers an item and waits until `done`, which is part of it, has its answer. */
export const ask = <Item, Answer, E = never>(
  batches: Batches<Item>,
  of: (done: Deferred.Deferred<Answer, E>) => Item
): Effect.Effect<Answer, E> =>
  Effect.suspend(() => {
    const done = Deferred.makeUnsafe<Answer, E>()
    batches.offer(of(done))
    return Deferred.await(done)
  })
