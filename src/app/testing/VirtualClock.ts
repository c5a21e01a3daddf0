import { type Clock, Duration, Effect } from "effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * A clock that stops until a test moves it. Epoch milliseconds are always whole, because a fractional moment that no
 * sum of two numbers reaches exactly would be awaited for ever.
 */
export interface VirtualClock extends Clock.Clock {
  /** The earliest moment at which a sleeper wakes up; null: there are no sleepers. */
  readonly nextDue: () => number | null
  /** Moves the clock, never back, and wakes the due sleepers in the order of their moments, then of their arrival. */
  readonly moveTo: (at: number) => void
  /** Lets the clock run with this machine's, for a service that starts or stops. */
  readonly flow: () => void
  /** Stops it again. */
  readonly stand: () => void
}

const nanos = (ms: number): bigint => BigInt(ms) * 1_000_000n

/** How often a running clock is updated. */
const flowMs = 5

export const make = (startsAt: number): VirtualClock => {
  /** Sleepers, the latest first. */
  const sleepers: Array<Sleeper> = []
  let now = startsAt
  let flowing: NodeJS.Timeout | null = null

  const add = (sleeper: Sleeper): void => {
    let low = 0
    for (let high = sleepers.length; low < high;) {
      const middle = (low + high) >>> 1
      if ((sleepers[middle]?.at ?? 0) > sleeper.at) low = middle + 1
      else high = middle
    }
    sleepers.splice(low, 0, sleeper)
  }

  const moveTo = (at: number): void => {
    for (let next = sleepers.at(-1); next !== undefined && next.at <= at; next = sleepers.at(-1)) {
      sleepers.pop()
      now = Math.max(now, next.at)
      next.wake()
    }
    now = Math.max(now, at)
  }

  const clock: VirtualClock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: () => nanos(now),
    currentTimeNanos: Effect.sync(() => nanos(now)),
    monotonicTimeNanosUnsafe: () => nanos(now - startsAt),
    monotonicTimeNanos: Effect.sync(() => nanos(now - startsAt)),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const ms = Duration.toMillis(duration)
        if (ms <= 0) return resume(Effect.void)
        if (ms === Infinity) return
        const sleeper = { at: now + Math.ceil(ms), wake: () => resume(Effect.void) }
        add(sleeper)
        return Effect.sync(() => {
          const index = sleepers.indexOf(sleeper)
          if (index !== -1) sleepers.splice(index, 1)
        })
      }),
    nextDue: () => sleepers.at(-1)?.at ?? null,
    moveTo,
    flow: () => {
      if (flowing !== null) return
      const ahead = now - performance.now()
      flowing = setInterval(() => moveTo(Math.floor(performance.now() + ahead)), flowMs)
    },
    stand: () => {
      if (flowing !== null) clearInterval(flowing)
      flowing = null
    }
  }
  return clock
}
