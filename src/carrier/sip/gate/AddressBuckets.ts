import * as PeerTable from "../../peer/PeerTable.ts"

/**
 * Bounds what a sender gets of us, for each source (`Source.of`) and in all, by buckets that fill again with time.
 *
 * At most `maxAddresses` are remembered, each until its bucket is full again, so an attacker gains nothing by using many
 * addresses. While there is no room, a new source gets nothing.
 */
export interface AddressBuckets {
  /** Takes one out of the bucket of this source; false: it is empty. */
  readonly take: (source: string, now: number) => boolean
  /** How many addresses are remembered. */
  readonly size: () => number
}

export interface Options {
  /** How many one source gets at once, and the milliseconds until it may have one more. */
  readonly burst: number
  readonly everyMs: number
  /** The same for all sources together; `overallEveryMs` 0: they have no bound. */
  readonly overallBurst: number
  readonly overallEveryMs: number
  readonly maxAddresses: number
}

/** Answers to strangers: enough for an operator who tries the port, and far too little for an attack on a third party. */
export const answers: Options = {
  burst: 10,
  everyMs: 1_000,
  overallBurst: 200,
  overallEveryMs: 10,
  maxAddresses: 10_000
}

/** Requests of strangers that are read: some 10 microseconds each, so that a flood takes less than a hundredth of a core. */
export const reading: Options = {
  burst: 20,
  everyMs: 100,
  overallBurst: 500,
  overallEveryMs: 2,
  maxAddresses: 10_000
}

/** There is room for every known peer, and one of them takes nothing from another. */
const ofPeers = { overallBurst: 1, overallEveryMs: 0, maxAddresses: PeerTable.maxPeers }

/** Messages of a known peer that begin something: more than the calls that the service can take in a second. */
export const beginning: Options = { ...ofPeers, burst: 1_000, everyMs: 2 }

/** Messages that name a Call-ID of ours, of whomever: several for as many calls. */
export const ofCalls: Options = { ...ofPeers, burst: 4_000, everyMs: 0.5 }

export const make = (options: Options): AddressBuckets => {
  /** When each bucket is full again; the bucket that was used last stands last. */
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
