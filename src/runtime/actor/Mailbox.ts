import { Deferred, Effect, Queue } from "effect"
import type { ApiError } from "../../domain/ApiError.ts"

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
  readonly done: Deferred.Deferred<Answer | null, ApiError> | null
}

export interface Mailbox<M> {
  readonly queue: Queue.Queue<M | null>
  readonly askRoom: number
  asks: number
  tells: number
}

export const tellRoom = 1_024

type Any = { readonly ask: unknown }

/** A record with functions over it, because there is one for each call. */
export const make = <M extends Any>(askRoom: number): Effect.Effect<Mailbox<M>> =>
  Effect.map(Queue.unbounded<M | null>(), (queue) => ({ queue, askRoom, asks: 0, tells: 0 }))

/** False: its room is full. */
export const put = <M extends Any>(mailbox: Mailbox<M>, mail: M): boolean => {
  if (mail.ask === null ? mailbox.tells >= tellRoom : mailbox.asks >= mailbox.askRoom) return false
  Queue.offerUnsafe(mailbox.queue, mail)
  if (mail.ask === null) mailbox.tells++
  else mailbox.asks++
  return true
}

/** Wakes whoever takes, without a message. */
export const knock = <M extends Any>(mailbox: Mailbox<M>): void => void Queue.offerUnsafe(mailbox.queue, null)

/** Null: somebody knocked. Whoever takes calls `took` before anything else can run. */
export const take = <M extends Any>(mailbox: Mailbox<M>): Effect.Effect<M | null> => Queue.take(mailbox.queue)

export const took = <M extends Any>(mailbox: Mailbox<M>, mail: M | null): void => {
  if (mail === null) return
  if (mail.ask === null) mailbox.tells--
  else mailbox.asks--
}

/** Everything that waits, taken out. */
export const clear = <M extends Any>(mailbox: Mailbox<M>): Effect.Effect<ReadonlyArray<M>> =>
  Effect.map(Queue.clear(mailbox.queue), (all) => {
    mailbox.asks = 0
    mailbox.tells = 0
    return all.filter((mail) => mail !== null)
  })

export const isEmpty = <M extends Any>({ asks, tells }: Mailbox<M>): boolean => asks === 0 && tells === 0
