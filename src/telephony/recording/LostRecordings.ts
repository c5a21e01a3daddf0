import { Effect } from "effect"
import type * as Id from "../../domain/Id.ts"

/** How often calls and conferences are asked what they wait for. A command may be on its way for as long. */
const everyMs = 10_000

/**
 * Finds recordings that a call or a conference waits for and nobody works at, again and again. Commands and outcomes get
 * lost where a leg ends, an entity is read again, or a defect ends what was under way; so nobody waits for hours.
 *
 * One is `lost` when it was missed twice in a row: ten to twenty seconds later.
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
