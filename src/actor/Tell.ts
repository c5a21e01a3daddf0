/**
 * What one entity tells another, so that it arrives once, whatever is lost, repeated or restarted on the way.
 *
 * The sender numbers what it says to one receiver 1, 2, 3 …, in the commit that says so; the receiver remembers the last
 * number of each sender, in the commit that takes it. No one waits: the sender hands a tell over after its commit, the
 * receiver acknowledges after its own.
 *
 * A receiver with a journal of its own: what is not acknowledged stays open in the sender's state, is sent again, and
 * keeps the sender unsettled. A receiver that is rebuilt from the rows of its senders (an account, from its live calls):
 * the sender's state holds the number only, for the row itself tells what was said up to there.
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
 * What a receiver makes of number `n` when `last` was the last it took of this sender: the next one is taken, a repeated
 * one is acknowledged and changes nothing, an early one is neither taken nor acknowledged (one before it is still coming).
 */
export const hear = (last: number, n: number): "next" | "repeated" | "early" =>
  n <= last ? "repeated" : n === last + 1 ? "next" : "early"
