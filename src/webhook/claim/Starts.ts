import { Effect } from "effect"
import * as EventLoop from "../../runtime/process/EventLoop.ts"
import * as FairQueue from "../../domain/fair/FairQueue.ts"
import * as LoudTenant from "./LoudTenant.ts"

interface Clocked {
  readonly now: () => number
  readonly thread: EventLoop.EventLoop
}

interface Ticket {
  readonly tenant: string
  begin: (() => void) | null
}

/** How many attempts begin in one turn of the event loop; each costs some tenths of a millisecond of it. */
const perTurn = 4

/**
 * Decides when attempts begin: at most `places` at once, and a few in each turn of the event loop, first those of the
 * tenant with the fewest under way. A loud tenant rests while the thread is busy (`LoudTenant.ts`). So a thousand
 * claimed deliveries of one tenant hold up neither the process nor a delivery of another tenant. The line is not
 * bounded here, because the number of claimed deliveries is.
 */
export const make = (
  places: number,
  { now = () => performance.now(), thread = EventLoop.make() }: Partial<Clocked> = {}
) => {
  const line = FairQueue.make<Ticket>({ places, room: Infinity })
  const loud = LoudTenant.make(thread)
  const resting = new Set<string>()
  let begun = 0

  const wake = (): void => {
    for (const tenant of resting) line.wake(tenant)
    resting.clear()
    fill()
  }
  const rest = (tenant: string): void => {
    if (resting.size === 0) setTimeout(wake, EventLoop.windowMs)
    resting.add(tenant)
    line.rest(tenant)
  }

  const nextTurn = (): void => {
    begun = 0
    fill()
  }
  const fill = (): void => {
    while (begun < perTurn) {
      const ticket = line.next()
      if (ticket === null) return
      if (begun++ === 0) setImmediate(nextTurn)
      if (loud.begins(ticket.tenant, now())) rest(ticket.tenant)
      ticket.begin?.()
    }
  }

  return {
    /** Runs the attempt when its turn has come. An attempt that is interrupted while it waits is not begun. */
    within:
      (tenant: string) =>
      (attempt: Effect.Effect<void>): Effect.Effect<void> =>
        Effect.suspend(() => {
          const ticket: Ticket = { tenant, begin: null }
          let isBegun = false
          const turn = Effect.callback<void>((resume) => {
            ticket.begin = () => {
              isBegun = true
              resume(Effect.void)
            }
            line.add(tenant, ticket)
            fill()
          })
          return Effect.ensuring(
            Effect.andThen(turn, attempt),
            Effect.sync(() => {
              if (isBegun) line.end(tenant, 1)
              else line.leave(tenant, ticket)
              fill()
            })
          )
        }),
    underWay: line.running
  }
}

export type Starts = ReturnType<typeof make>
