import ipaddr from "ipaddr.js"

/**
 * Answers to strangers, a few for each address and not many in all: a bucket that fills again with time.
 *
 * An IPv6 network of 64 bits counts as one address: whoever has one of its addresses has them all. At most
 * `maxAddresses` are remembered. One is forgotten when its bucket is full again, never before, so nobody gets more by
 * coming from many places; while there is no room, an address that is new gets nothing.
 */
export interface AddressBuckets {
  /** Takes one answer for this address, in its canonical form, at this time; `false`: there is none left. */
  readonly take: (address: string, now: number) => boolean
  /** Addresses that are remembered. */
  readonly size: () => number
}

export interface Options {
  /** Answers at once to one address, and the milliseconds until there is one more. */
  readonly burst: number
  readonly everyMs: number
  /** The same for all of them together. */
  readonly overallBurst: number
  readonly overallEveryMs: number
  readonly maxAddresses: number
}

/** Enough to show somebody who tries the port what it is; far too little for an attack on a third party. */
const defaults: Options = {
  burst: 10,
  everyMs: 1_000,
  overallBurst: 200,
  overallEveryMs: 10,
  maxAddresses: 10_000
}

export const make = (options: Options = defaults): AddressBuckets => {
  /** When each bucket is full again, in the order in which they were last taken from. */
  const fullAt = new Map<string, number>()
  let overallFullAt = 0

  const forget = (now: number): void => {
    for (const [key, at] of fullAt) {
      if (at > now) return
      fullAt.delete(key)
    }
  }

  return {
    take: (address, now) => {
      forget(now)
      const key = keyOf(address)
      const before = fullAt.get(key)
      if (before === undefined && fullAt.size >= options.maxAddresses) return false
      const next = Math.max(before ?? now, now) + options.everyMs
      const overallNext = Math.max(overallFullAt, now) + options.overallEveryMs
      if (next > now + options.burst * options.everyMs) return false
      if (overallNext > now + options.overallBurst * options.overallEveryMs) return false
      fullAt.delete(key)
      fullAt.set(key, next)
      overallFullAt = overallNext
      return true
    },
    size: () => fullAt.size
  }
}

const keyOf = (address: string): string =>
  address.includes(":") && ipaddr.IPv6.isValid(address)
    ? ipaddr.IPv6.parse(address).parts.slice(0, 4).join(":")
    : address
