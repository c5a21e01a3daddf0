import { Cause, Effect, Latch } from "effect"
import * as Supervised from "../actor/Supervised.ts"
import * as Turns from "./Turns.ts"

/** Where what has to go into a batch waits, each tenant in its own line. */
export interface TurnBatches<Item> {
  /** No bound here: whoever offers bounds what it has under way. */
  readonly offer: (tenant: string, item: Item) => void
  /** What was not admitted may be now. */
  readonly look: () => void
}

/**
 * One fiber that serves what is offered, like `store/Batches.ts`, but the items of a batch are taken in turns by tenant:
 * a thousand items of one tenant do not delay another's one by more than a batch.
 *
 * `serve` must not fail. When it dies all the same, its items are told so (`died`), and the next batch is served.
 */
export const make = Effect.fnUntraced(function* <Item>(options: {
  /** What the fiber does, for the log. */
  readonly name: string
  /** Items of a batch; what waits beyond goes into the next. */
  readonly limit: number
  /** Between two batches, while items gather for the next: fewer statements for a moment's delay, none after a rest. */
  readonly pauseMs: number
  /** Whether this item's turn may come now; it keeps its place until `look`. */
  readonly admits?: (tenant: string, item: Item) => boolean
  readonly serve: (batch: ReadonlyArray<Item>) => Effect.Effect<void>
  readonly died: (item: Item, defect: unknown) => void
}) {
  const { admits = () => true, died, limit, name, pauseMs, serve } = options
  const turns = Turns.make<Item>()
  const changed = Latch.makeUnsafe(false)
  const wake = (): void => void Latch.openUnsafe(changed)

  const next = Effect.suspend(() => {
    Latch.closeUnsafe(changed)
    const batch = turns.take(limit, admits)
    if (batch.length === 0) return Latch.await(changed)
    return Effect.catchCause(serve(batch), (cause) => {
      for (const item of batch) died(item, Cause.squash(cause))
      return Effect.failCause(cause)
    }).pipe(Effect.andThen(Effect.sleep(pauseMs)))
  })
  yield* Supervised.fork(name, Effect.forever(next))

  return {
    offer: (tenant, item) => {
      turns.add(tenant, item)
      wake()
    },
    look: () => {
      if (turns.size() > 0) wake()
    }
  } satisfies TurnBatches<Item>
})
