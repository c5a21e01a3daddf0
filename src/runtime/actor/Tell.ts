/**
 * A message from one entity to another that takes effect once, whatever is lost, repeated or restarted on the way.
 *
 * The sender numbers its messages to one receiver 1, 2, 3 …, in the commit that creates them. The receiver remembers
 * the last number of each sender, in the commit that takes it. Neither waits: the sender hands a tell over after its
 * commit, and the receiver acknowledges it after its own.
 *
 * Where the receiver has a journal of its own, an unacknowledged tell stays in the sender's state, is sent again, and
 * keeps the sender unsettled. Where the receiver is rebuilt from the rows of its senders (an account, from its live
 * calls), the sender's state holds only the number, because the row itself shows what was sent up to that number.
 */
export interface Tell<Body> {
  readonly n: number
  readonly body: Body
}

/** The messages of a sender to one receiver. */
export interface Outbox<Body> {
  /** The number of the newest tell. */
  readonly last: number
  /** The tells that are not acknowledged, in order. */
  readonly open: ReadonlyArray<Tell<Body>>
}

export const nothing: Outbox<never> = { last: 0, open: [] }

export const say = <Body>({ last, open }: Outbox<Body>, body: Body): Outbox<Body> => ({
  last: last + 1,
  open: [...open, { n: last + 1, body }]
})

/** Removes the tells up to `n`, which the receiver has taken. */
export const acknowledged = <Body>(outbox: Outbox<Body>, n: number): Outbox<Body> =>
  outbox.open.some((tell) => tell.n <= n) ? { ...outbox, open: outbox.open.filter((tell) => tell.n > n) } : outbox

/**
 * Decides what a receiver does with number `n` when `last` is the newest that it took from this sender. It takes the
 * next one. It acknowledges a repeated one, which changes nothing. It neither takes nor acknowledges an early one,
 * because one before it is still to come.
 */
export const hear = (last: number, n: number): "next" | "repeated" | "early" =>
  n <= last ? "repeated" : n === last + 1 ? "next" : "early"
