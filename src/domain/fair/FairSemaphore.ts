import { Data, Effect } from "effect"
import * as Company from "./Company.ts"
import * as FairQueue from "./FairQueue.ts"
import * as Monotonic from "../time/Monotonic.ts"
import * as EventLoop from "./EventLoop.ts"

/** The line is full, for all holders or for this one, or its turn did not come in time. The work was not begun. */
export class NoCapacity extends Data.TaggedError("NoCapacity")<{ readonly holder: string }> {}

/**
 * A semaphore that many holders (tenants, addresses) share fairly (`domain/fair/FairQueue.ts`), so that no holder can
 * keep the others from it. An effect is charged the time for which it held its place.
 */
export interface FairSemaphore {
  /**
   * Runs the effect when the holder's turn has come. Work whose fiber is interrupted while it waits is not begun, and
   * leaves the line at once. Fails with `NoRoom` when the line is full, or the turn has not come within `patienceMs`.
   */
  readonly within: (holder: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | NoCapacity, R>
  readonly waiting: () => number
  /** Whether an effect of another holder waits for its turn. */
  readonly othersWait: (holder: string) => boolean
  readonly running: () => number
}

interface Ticket {
  start: (() => void) | null
  /** When it got its place, on the monotonic clock; null: it waits. */
  since: number | null
}

export interface Options extends FairQueue.Options {
  /** How long an effect waits for its turn; absent: without a limit. */
  readonly patienceMs?: number
  /**
   * The rest of a holder after an effect, as a multiple of the time that the effect took. It is for work that keeps
   * others waiting too (the event loop, the processor): a holder that asks without end still leaves time for them.
   */
  readonly rests?: number
  /**
   * `each`: the places of a holder while another holder has come within `withinMs`. It is for work that becomes slower
   * for all when much of it runs at once, though its holder gains by that. A holder alone takes every place. While the
   * thread is busy, a holder with more waiting effects than places rests for as long as its last effect took.
   */
  readonly shared?: { readonly each: number; readonly withinMs: number; readonly thread?: EventLoop.EventLoop }
}

/** `places`: effects that run at once; `capacity`: effects that may wait. */
export const make = (options: Options): FairSemaphore => {
  const { patienceMs, rests = 0, shared } = options
  const thread = shared?.thread ?? EventLoop.make()
  const queue = FairQueue.make<Ticket>(options)
  const company = Company.make(shared?.withinMs ?? 0)

  const eachAt = (now: number): number => (shared !== undefined && company.isShared(now) ? shared.each : Infinity)
  const restsAt = (holder: string, now: number): number =>
    rests === 0 && queue.waitingOf(holder) > eachAt(now) && thread.isBusy(now) ? 1 : rests

  const fill = (now: number) => {
    const each = eachAt(now)
    for (let ticket = queue.next(each); ticket !== null; ticket = queue.next(each)) {
      ticket.since = now
      ticket.start?.()
    }
  }
  const enter = (holder: string) =>
    Effect.flatMap(Monotonic.now, (now) => {
      const ticket: Ticket = { start: null, since: null }
      if (!queue.add(holder, ticket)) return Effect.fail(new NoCapacity({ holder }))
      company.came(holder, now)
      fill(now)
      return Effect.succeed(ticket)
    })
  const turnOf = (holder: string, ticket: Ticket): Effect.Effect<void, NoCapacity> => {
    if (ticket.since !== null) return Effect.void
    const turn = Effect.callback<void>((resume) => {
      if (ticket.since === null) ticket.start = () => resume(Effect.void)
      else resume(Effect.void)
    })
    return patienceMs === undefined
      ? turn
      : Effect.timeoutOrElse(turn, { duration: patienceMs, orElse: () => Effect.fail(new NoCapacity({ holder })) })
  }
  const exit = (holder: string, ticket: Ticket) =>
    Effect.flatMap(Monotonic.now, (now) => {
      if (ticket.since === null) {
        queue.leave(holder, ticket)
        fill(now)
        return Effect.void
      }
      const took = now - ticket.since
      const times = restsAt(holder, now)
      if (times > 0) queue.rest(holder)
      queue.end(holder, took)
      fill(now)
      return times > 0 ? Effect.asVoid(Effect.forkDetach(wake(holder, took * times))) : Effect.void
    })
  const wake = (holder: string, afterMs: number) =>
    Effect.andThen(
      Effect.sleep(afterMs),
      Effect.map(Monotonic.now, (now) => {
        queue.wake(holder)
        fill(now)
      })
    )

  return {
    within: (holder) => (effect) =>
      Effect.acquireUseRelease(
        enter(holder),
        (ticket) => Effect.andThen(turnOf(holder, ticket), effect),
        (ticket) => exit(holder, ticket)
      ),
    waiting: queue.waiting,
    othersWait: (holder) => queue.waiting() > queue.waitingOf(holder),
    running: queue.running
  }
}
