import { Deferred, Effect, Queue } from "effect"
import type { Rejected } from "../domain/Rejected.ts"

/**
 * What waits for one actor, in the order in which it came. Asks and tells have rooms of their own: callers who wait for
 * an answer never crowd out what the carrier or a timer has to say.
 */
export interface Mail<Input, Asked, Answer> {
  /** Null: the state is to be read again. */
  readonly input: Input | null
  /** Null: a tell. */
  readonly ask: { readonly asked: Asked } | null
  /** Null: nobody waits. */
  readonly done: Deferred.Deferred<Answer | null, Rejected> | null
}

export interface Mailbox<M> {
  /** Null: somebody knocked. Whoever takes says `took` before anything else can run. */
  readonly take: Effect.Effect<M | null>
  readonly took: (mail: M | null) => void
  /** Everything that waits, taken out. */
  readonly clear: Effect.Effect<ReadonlyArray<M>>
  /** False: its room is full. */
  readonly put: (mail: M) => boolean
  /** Makes who takes look up, without a message. */
  readonly knock: () => void
  readonly isEmpty: () => boolean
}

export const tellRoom = 1_024

export const make = Effect.fnUntraced(function* <M extends { readonly ask: unknown }>(askRoom: number) {
  const queue = yield* Queue.unbounded<M | null>()
  let asks = 0
  let tells = 0
  const took = (mail: M | null): void => {
    if (mail === null) return
    if (mail.ask === null) tells--
    else asks--
  }
  return {
    take: Queue.take(queue),
    took,
    clear: Effect.map(Queue.clear(queue), (all) => {
      all.forEach(took)
      return all.filter((mail) => mail !== null)
    }),
    put: (mail) => {
      if (mail.ask === null ? tells >= tellRoom : asks >= askRoom) return false
      Queue.offerUnsafe(queue, mail)
      if (mail.ask === null) tells++
      else asks++
      return true
    },
    knock: () => void Queue.offerUnsafe(queue, null),
    isEmpty: () => asks === 0 && tells === 0
  } satisfies Mailbox<M>
})
