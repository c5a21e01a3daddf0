import * as PeerTable from "../../peer/PeerTable.ts"

/**
 * Limits what each source (`Source.of`), and all sources together, get from us, by buckets that fill again with time.
 *
 * At most `maxAddresses` are remembered, each until its bucket is full again, so an attacker gains nothing by using
 * many addresses. While there is no room, a new source gets nothing.
 */
export interface AddressBuckets {
  /** Takes one token out of the bucket of this source. False when it is empty. */
  readonly take: (source: string, now: number) => boolean
  /** How many addresses are remembered. */
  readonly size: () => number
}

export interface Options {
  /** How many one source gets at once; `everyMs` is the time in milliseconds until it may have one more. */
  readonly burst: number
  readonly everyMs: number
  /** The same for all sources together; with `overallEveryMs` 0 they have no bound. */
  readonly overallBurst: number
  readonly overallEveryMs: number
  readonly maxAddresses: number
}

/** Limits answers to strangers: enough for an operator that tests the port, far too few to attack a third party. */
export const answers: Options = {
  burst: 10,
  everyMs: 1_000,
  overallBurst: 200,
  overallEveryMs: 10,
  maxAddresses: 10_000
}

/** Limits strangers' requests that are read: at some 10 microseconds each, a flood takes less than 1 % of a core. */
export const reading: Options = {
  burst: 20,
  everyMs: 100,
  overallBurst: 500,
  overallEveryMs: 2,
  maxAddresses: 10_000
}

/** There is room for every known peer, and peers take nothing from each other. */
const ofPeers = { overallBurst: 1, overallEveryMs: 0, maxAddresses: PeerTable.maxPeers }

/**
 * The limit of a known peer's messages that begin something: more than the calls that the service accepts in a second.
 */
export const beginning: Options = { ...ofPeers, burst: 1_000, everyMs: 2 }

/** The limit of messages that name a Call-ID of ours, from any sender: several for as many calls. */
export const ofCalls: Options = { ...ofPeers, burst: 4_000, everyMs: 0.5 }

export const make = (options: Options): AddressBuckets => {
  /** When each bucket is full again, in the order of last use. */
  const fullAt = new Map<string, number>()
  let overallFullAt = 0

  const forget = (now: number): void => {
    for (const [key, at] of fullAt) {
      if (at > now) return
      fullAt.delete(key)
    }
  }

  return {
    take: (source, now) => {
      forget(now)
      const before = fullAt.get(source)
      if (before === undefined && fullAt.size >= options.maxAddresses) return false
      const next = Math.max(before ?? now, now) + options.everyMs
      const overallNext = Math.max(overallFullAt, now) + options.overallEveryMs
      if (next > now + options.burst * options.everyMs) return false
      if (overallNext > now + options.overallBurst * options.overallEveryMs) return false
      fullAt.delete(source)
      fullAt.set(source, next)
      overallFullAt = overallNext
      return true
    },
    size: () => fullAt.size
  }
}
