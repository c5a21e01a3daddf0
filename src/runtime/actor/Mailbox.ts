import { Deferred, Effect, Queue } from "effect"
import type { ApiError } from "../../domain/ApiError.ts"
import type { Permit } from "../process/WritePermit.ts"

/**
 * A message that waits for one actor. Messages are taken in the order in which they came. Asks and tells have separate
 * limits, so that callers that wait for an answer never crowd out events of the carrier or of a timer.
 */
export interface Mail<Input, Asked, Answer> {
  /** Null: the state has to be read again. */
  readonly input: Input | null
  /** Null: a tell. */
  readonly ask: { readonly asked: Asked; readonly permit: Permit | null } | null
  /** Null: no caller waits. */
  readonly done: Deferred.Deferred<Answer | null, ApiError> | null
}

interface Mailbox<M> {
  readonly queue: Queue.Queue<M | null>
  readonly askCapacity: number
  asks: number
  tells: number
}

export const tellCapacity = 1_024

type Any = { readonly ask: unknown }

/** A mailbox is a record with functions over it and not an object with methods, because each call has one. */
export const make = <M extends Any>(askCapacity: number): Effect.Effect<Mailbox<M>> =>
  Effect.map(Queue.unbounded<M | null>(), (queue) => ({ queue, askCapacity, asks: 0, tells: 0 }))

/** False: the mailbox is full for this kind of message. */
export const put = <M extends Any>(mailbox: Mailbox<M>, mail: M): boolean => {
  if (mail.ask === null ? mailbox.tells >= tellCapacity : mailbox.asks >= mailbox.askCapacity) return false
  Queue.offerUnsafe(mailbox.queue, mail)
  if (mail.ask === null) mailbox.tells++
  else mailbox.asks++
  return true
}

/** Wakes the actor without a message. */
export const knock = <M extends Any>(mailbox: Mailbox<M>): void => void Queue.offerUnsafe(mailbox.queue, null)

/** Takes the next message; null: a knock. The actor calls `took` before any other code can run. */
export const take = <M extends Any>(mailbox: Mailbox<M>): Effect.Effect<M | null> => Queue.take(mailbox.queue)

export const took = <M extends Any>(mailbox: Mailbox<M>, mail: M | null): void => {
  if (mail === null) return
  if (mail.ask === null) mailbox.tells--
  else mailbox.asks--
}

/** Takes out all messages that wait. */
export const clear = <M extends Any>(mailbox: Mailbox<M>): Effect.Effect<ReadonlyArray<M>> =>
  Effect.map(Queue.clear(mailbox.queue), (all) => {
    mailbox.asks = 0
    mailbox.tells = 0
    return all.filter((mail) => mail !== null)
  })

export const isEmpty = <M extends Any>({ asks, tells }: Mailbox<M>): boolean => asks === 0 && tells === 0
