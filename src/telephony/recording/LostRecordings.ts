import { Effect } from "effect"
import type * as Id from "../../domain/Id.ts"

/** How often calls and conferences are asked about awaited recordings. A command may be on its way for as long. */
const everyMs = 10_000

/**
 * Repeatedly looks for recordings that a call or a conference awaits and that no recorder has, so that none waits for
 * hours. Commands and outcomes get lost when a leg ends, an entity is read again, or a defect ends unfinished work.
 *
 * A recording is `lost` when it was missed twice in a row: ten to twenty seconds later.
 */
export const watch = <Awaited extends { readonly id: Id.WorkId }>(of: {
  readonly awaited: Effect.Effect<ReadonlyArray<Awaited>>
  readonly isKnown: (id: Id.WorkId) => boolean
  readonly lost: (lost: ReadonlyArray<Awaited>) => Effect.Effect<void>
}): Effect.Effect<never> =>
  Effect.gen(function* () {
    let before: ReadonlySet<Id.WorkId> = new Set()
    while (true) {
      yield* Effect.sleep(everyMs)
      const missing = (yield* of.awaited).filter(({ id }) => !of.isKnown(id))
      const lost = missing.filter(({ id }) => before.has(id))
      if (lost.length > 0) yield* of.lost(lost)
      before = new Set(missing.map(({ id }) => id))
    }
  })
