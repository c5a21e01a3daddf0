import { Data, Effect } from "effect"
import * as FairQueue from "../domain/FairQueue.ts"
import * as Monotonic from "../domain/Monotonic.ts"

/** The line is full, for everybody or for this holder, or its turn did not come in time; nothing was begun. */
export class NoRoom extends Data.TaggedError("NoRoom")<{ readonly holder: string }> {}

/**
 * Places for work that many holders (tenants, addresses) share fairly, `domain/FairQueue.ts`: a semaphore that no
 * holder can keep from the others. What an effect uses is the time for which it held its place.
 */
export interface FairPlaces {
  /**
   * Runs the effect when the holder's turn has come. Work whose fiber is interrupted while it waits is not begun, and
   * leaves the line at once. Fails with `NoRoom` when the line is full, or the turn has not come within `patienceMs`.
   */
  readonly within: (holder: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | NoRoom, R>
  readonly waiting: () => number
  readonly running: () => number
}

interface Ticket {
  begin: (() => void) | null
  /** When it got its place, on the monotonic clock. */
  since: number | null
}

/** `places`: effects that run at once; `room`: effects that may wait. Without `patienceMs` they wait for ever. */
export const make = (options: FairQueue.Options & { readonly patienceMs?: number }): FairPlaces => {
  const { patienceMs } = options
  const queue = FairQueue.make<Ticket>(options)

  const fill = (now: number) => {
    for (let ticket = queue.next(); ticket !== null; ticket = queue.next()) {
      ticket.since = now
      ticket.begin?.()
    }
  }
  const enter = (holder: string) =>
    Effect.flatMap(Monotonic.now, (now) => {
      const ticket: Ticket = { begin: null, since: null }
      if (!queue.add(holder, ticket)) return Effect.fail(new NoRoom({ holder }))
      fill(now)
      return Effect.succeed(ticket)
    })
  const turnOf = (holder: string, ticket: Ticket) => {
    const turn = Effect.callback<void>((resume) => {
      if (ticket.since === null) ticket.begin = () => resume(Effect.void)
      else resume(Effect.void)
    })
    return ticket.since !== null || patienceMs === undefined
      ? turn
      : Effect.timeoutOrElse(turn, { duration: patienceMs, orElse: () => Effect.fail(new NoRoom({ holder })) })
  }
  const exit = (holder: string, ticket: Ticket) =>
    Effect.map(Monotonic.now, (now) => {
      if (ticket.since === null) queue.leave(holder, ticket)
      else queue.end(holder, now - ticket.since)
      fill(now)
    })

  return {
    within: (holder) => (effect) =>
      Effect.acquireUseRelease(
        enter(holder),
        (ticket) => Effect.andThen(turnOf(holder, ticket), effect),
        (ticket) => exit(holder, ticket)
      ),
    waiting: queue.waiting,
    running: queue.running
  }
}
