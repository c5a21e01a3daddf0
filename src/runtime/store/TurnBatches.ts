import { Cause, Clock, Deferred, Effect, Exit, Latch } from "effect"
import * as Supervised from "../process/Supervised.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import * as RoundRobin from "../../domain/fair/RoundRobin.ts"

/** The queues of items that wait for a batch, one for each tenant. */
interface TurnBatches<Item> {
  /** Adds an item. The queue is not bounded here: the caller bounds how much it has under way. */
  readonly offer: (tenant: string, item: Item) => void
  /** Checks again the items that were not admitted. */
  readonly look: () => void
  /** Begins the next batch after `pauseMs`, because a client waits for it. */
  readonly hurry: () => void
  /** Completes when no item waits and none is being served. */
  readonly idle: Effect.Effect<void>
}

/**
 * One fiber that serves items in batches, like `Batches.ts`, but takes them in turns by tenant: a thousand items of one
 * tenant delay another's item by at most a batch. The items of a tenant keep their order.
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
  /** How much longer a pause may be until `hurry` is called. */
  readonly longerMs?: number
  /** With this many items waiting, the pause is not longer. */
  readonly enough?: number
  /** The pause is longer only while the last `enough` items came within this time; absent: always. */
  readonly busyMs?: number
  /** True when this item's turn may come now. Otherwise it keeps its place until `look`. */
  readonly admits?: (tenant: string, item: Item) => boolean
  /** `rest` also takes the items that wait after the batch. */
  readonly serve: (batch: ReadonlyArray<Item>, rest: Effect.Effect<ReadonlyArray<Item>>) => Effect.Effect<void>
  readonly died: (item: Item, defect: unknown) => void
}) {
  const {
    admits = () => true,
    busyMs = null,
    died,
    enough = Infinity,
    limit,
    longerMs = 0,
    name,
    pauseMs = 0
  } = options
  const clock = yield* Clock.Clock
  const turns = RoundRobin.make<Item>()
  const changed = Latch.makeUnsafe(false)
  const hurried = Latch.makeUnsafe(false)
  const hurry = (): void => void Latch.openUnsafe(hurried)
  const wake = (): void => void Latch.openUnsafe(changed)
  const rest = Effect.sync(() => turns.take(Infinity, () => true))
  /** The times when the last `enough` items came, the oldest at `came % enough`. */
  const cameAt: Array<number> = []
  let came = 0
  let isServing = false
  let idlers: ReadonlyArray<Deferred.Deferred<void>> = []

  const rested = (): void => {
    isServing = false
    if (turns.size() > 0) return
    for (const idler of idlers) Deferred.doneUnsafe(idler, Exit.void)
    idlers = []
  }

  const shortPause = pauseMs === 0 ? Effect.void : Effect.sleep(pauseMs)
  const isBusy = (): boolean =>
    busyMs === null || Monotonic.read(clock) - (cameAt[came % enough] ?? -Infinity) <= busyMs
  const gather = Effect.suspend(() =>
    Latch.isOpen(hurried) || turns.size() >= enough || !isBusy()
      ? Effect.void
      : Effect.raceFirst(Latch.await(hurried), Effect.sleep(longerMs))
  )
  const pause = longerMs === 0 ? shortPause : Effect.andThen(shortPause, gather)

  const next = Effect.suspend(() => {
    Latch.closeUnsafe(changed)
    Latch.closeUnsafe(hurried)
    const batch = turns.take(limit, admits)
    if (batch.length === 0) return Latch.await(changed)
    isServing = true
    return Effect.catchCause(options.serve(batch, rest), (cause) => {
      for (const item of batch) died(item, Cause.squash(cause))
      return Effect.failCause(cause)
    }).pipe(Effect.ensuring(Effect.sync(rested)), Effect.andThen(pause))
  })
  // Items that already wait are served in the same turn of the event loop.
  yield* Supervised.fork(name, Effect.forever(next, { disableYield: true }))

  return {
    offer: (tenant, item) => {
      turns.add(tenant, item)
      if (busyMs !== null) cameAt[came++ % enough] = Monotonic.read(clock)
      if (turns.size() >= enough) hurry()
      wake()
    },
    look: () => {
      if (turns.size() > 0) wake()
    },
    hurry,
    idle: Effect.suspend(() => {
      if (turns.size() === 0 && !isServing) return Effect.void
      const idler = Deferred.makeUnsafe<void>()
      idlers = [...idlers, idler]
      return Deferred.await(idler)
    })
  } satisfies TurnBatches<Item>
})
