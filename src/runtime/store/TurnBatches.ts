import { Cause, Clock, Deferred, Effect, Exit, Latch } from "effect"
import * as Supervised from "../process/Supervised.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import * as Turns from "../../domain/fair/Turns.ts"

/** Where what has to go into a batch waits, each tenant in its own line. */
export interface TurnBatches<Item> {
  /** No bound here: whoever offers bounds what it has under way. */
  readonly offer: (tenant: string, item: Item) => void
  /** What was not admitted may be now. */
  readonly look: () => void
  /** Somebody waits for what the next batch does: it begins after `pauseMs`. */
  readonly hurry: () => void
  /** Completes when nothing waits and nothing is being served. */
  readonly idle: Effect.Effect<void>
}

/**
 * One fiber that serves what is offered, like `Batches.ts`, but the items of a batch are taken in turns by tenant: a
 * thousand items of one tenant do not delay another's one by more than a batch. Those of one tenant come in their order.
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
  /** How much longer a pause may be while nobody hurries. */
  readonly longerMs?: number
  /** So many items that wait are worth a batch: it does not gather for longer. */
  readonly enough?: number
  /** It gathers for longer only while the last `enough` items came within so many milliseconds; absent: always. */
  readonly busyMs?: number
  /** Whether this item's turn may come now; it keeps its place until `look`. */
  readonly admits?: (tenant: string, item: Item) => boolean
  /** `rest` takes what waits behind the batch too. */
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
  const turns = Turns.make<Item>()
  const changed = Latch.makeUnsafe(false)
  const hurried = Latch.makeUnsafe(false)
  const hurry = (): void => void Latch.openUnsafe(hurried)
  const wake = (): void => void Latch.openUnsafe(changed)
  const rest = Effect.sync(() => turns.take(Infinity, () => true))
  /** When the last `enough` items came, the oldest at `came % enough`. */
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
  // What waits already is served in the same turn of the event loop.
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
