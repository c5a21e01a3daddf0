import ipaddr from "ipaddr.js"

/**
 * Bounds the answers to strangers, for each address and in all, by buckets that fill again with time.
 *
 * An IPv6 network of 64 bits counts as one address, because one host can use all of it. At most `maxAddresses` are
 * remembered, each until its bucket is full again, so an attacker gains nothing by using many addresses. While there is
 * no room, a new address gets no answer.
 */
export interface AddressBuckets {
  /** Takes one answer out of the bucket of this address, in its canonical form; false: the bucket is empty. */
  readonly take: (address: string, now: number) => boolean
  /** How many addresses are remembered. */
  readonly size: () => number
}

export interface Options {
  /** How many answers one address gets at once, and the milliseconds until it may have one more. */
  readonly burst: number
  readonly everyMs: number
  /** The same for all addresses together. */
  readonly overallBurst: number
  readonly overallEveryMs: number
  readonly maxAddresses: number
}

/** Enough for an operator who tries the port, and far too little for an attack on a third party. */
const defaults: Options = {
  burst: 10,
  everyMs: 1_000,
  overallBurst: 200,
  overallEveryMs: 10,
  maxAddresses: 10_000
}

export const make = (options: Options = defaults): AddressBuckets => {
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
