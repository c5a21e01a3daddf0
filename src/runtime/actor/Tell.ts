/**
 * What one entity tells another, so that it arrives once, whatever is lost, repeated or restarted on the way.
 *
 * The sender numbers what it says to one receiver 1, 2, 3 …, in the commit that says so. The receiver remembers the
 * last number of each sender, in the commit that takes it. Nobody waits: the sender hands a tell over after its commit,
 * and the receiver acknowledges it after its own.
 *
 * Where the receiver has a journal of its own, a tell that is not acknowledged stays in the sender's state, is sent
 * again, and keeps the sender unsettled. Where the receiver is rebuilt from the rows of its senders (an account, from
 * its live calls), the sender's state holds only the number, because the row itself tells what was said up to there.
 */
export interface Tell<Body> {
  readonly n: number
  readonly body: Body
}

/** What a sender has said to one receiver. */
export interface Outbox<Body> {
  /** The number of the last one. */
  readonly last: number
  /** Not acknowledged, in order. */
  readonly open: ReadonlyArray<Tell<Body>>
}

export const nothing: Outbox<never> = { last: 0, open: [] }

export const say = <Body>({ last, open }: Outbox<Body>, body: Body): Outbox<Body> => ({
  last: last + 1,
  open: [...open, { n: last + 1, body }]
})

/** Everything up to `n` has been taken. */
export const acknowledged = <Body>(outbox: Outbox<Body>, n: number): Outbox<Body> =>
  outbox.open.some((tell) => tell.n <= n) ? { ...outbox, open: outbox.open.filter((tell) => tell.n > n) } : outbox

/**
 * What a receiver does with number `n` when `last` was the last that it took of this sender. It takes the next one. It
 * acknowledges a repeated one, which changes nothing. It neither takes nor acknowledges an early one, because one before
 * it is still to come.
 */
export const hear = (last: number, n: number): "next" | "repeated" | "early" =>
  n <= last ? "repeated" : n === last + 1 ? "next" : "early"
