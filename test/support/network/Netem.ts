/**
 * A bad network in virtual time: it loses, delays, duplicates and reorders packets, in the same way for the same seed.
 */
export interface Options {
  readonly seed: number
  /** Probability of each, 0 to 1. */
  readonly loss?: number
  readonly duplicate?: number
  /** Shortest way in milliseconds; each packet takes up to `jitterMs` longer, which is what reorders. */
  readonly delayMs?: number
  readonly jitterMs?: number
}

interface Packet<Payload> {
  readonly at: number
  readonly order: number
  readonly payload: Payload
}

export interface Netem<Payload> {
  /** Hands a packet to the network. */
  readonly send: (payload: Payload, now: number) => void
  /** When the next packet arrives, or `undefined`. */
  readonly nextAt: () => number | undefined
  /** Takes out everything that has arrived, in the order of arrival. */
  readonly arrived: (now: number) => ReadonlyArray<Payload>
  readonly counts: { sent: number; lost: number; duplicated: number }
}

/** Uniform numbers in [0, 1), mulberry32. */
export const random = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const make = <Payload>(options: Options): Netem<Payload> => {
  const { loss = 0, duplicate = 0, delayMs = 0, jitterMs = 0 } = options
  const next = random(options.seed)
  const counts = { sent: 0, lost: 0, duplicated: 0 }
  let flying: Array<Packet<Payload>> = []
  let order = 0
  const launch = (payload: Payload, now: number) => {
    if (next() < loss) {
      counts.lost++
      return
    }
    flying.push({ at: now + delayMs + Math.floor(next() * (jitterMs + 1)), order: order++, payload })
  }
  return {
    counts,
    send: (payload, now) => {
      counts.sent++
      launch(payload, now)
      if (next() < duplicate) {
        counts.duplicated++
        launch(payload, now)
      }
    },
    nextAt: () => (flying.length === 0 ? undefined : Math.min(...flying.map(({ at }) => at))),
    arrived: (now) => {
      const due = flying.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at || a.order - b.order)
      flying = flying.filter(({ at }) => at > now)
      return due.map(({ payload }) => payload)
    }
  }
}
