import { Cause, Deferred, Effect, Queue } from "effect"
import * as Supervised from "../process/Supervised.ts"

/** A statement without an answer after this time is given up, because its connection is silent. */
export const silence = "30 seconds"

/** The queue of items that wait for a batch. */
export interface Batches<Item> {
  /** Adds an item. The queue is not bounded here: the caller bounds how much it has under way. */
  readonly offer: (item: Item) => void
}

/**
 * One fiber that serves many items at a time, one batch after the other. Items that come while a batch is served go
 * into the next, in order, so under load an item costs a part of a statement.
 *
 * `serve` must not fail. When it dies all the same, `died` is called for its items, and the next batch is served.
 */
export const make = Effect.fnUntraced(function* <Item>(options: {
  /** The name of the fiber's work, for the log. */
  readonly name: string
  /** The most items of a batch; the others go into the next. */
  readonly limit: number
  /**
   * The pause after a batch, while items gather for the next: fewer statements for a short delay. The first item after
   * an idle time does not wait.
   */
  readonly pauseMs?: number
  /** `rest` also takes the items that wait after the batch. */
  readonly serve: (batch: ReadonlyArray<Item>, rest: Effect.Effect<ReadonlyArray<Item>>) => Effect.Effect<void>
  /** Informs the waiting caller of an item that its batch died. It does nothing for an item that has its answer. */
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
