/** Arithmetic on counters that wrap: RTP sequence numbers (16 bits) and timestamps (32 bits), RFC 3550 section 5.1. */

/** Steps from `from` to `to` the short way round, -32768 to 32767; negative when `to` is older. */
export const distance = (from: number, to: number): number => ((to - from) << 16) >> 16

/** Media clock units from `from` to `to` the short way round, -2^31 to 2^31 - 1; negative when `to` is older. */
export const timestampDistance = (from: number, to: number): number => (to - from) | 0

export const next = (sequenceNumber: number): number => (sequenceNumber + 1) & 0xffff

/**
 * The extended sequence number (cycles in the upper bits, RFC 3550 section 6.4.1) that ends in `sequenceNumber` and is
 * nearest to `reference`, itself extended. Negative before the first 0.
 */
export const extend = (reference: number, sequenceNumber: number): number =>
  reference + distance(reference & 0xffff, sequenceNumber)
