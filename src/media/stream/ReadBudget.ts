/**
 * How much a stream's server may send: what it sends beyond that is read later, so that a flood of it takes no more of
 * the thread than its share. Ordinary speech is far below, and a minute of it at once is read at once.
 */
export const limits = {
  /** Octets at once, and each second. */
  octets: 8 * 1024 * 1024,
  octetsPerSecond: 1024 * 1024,
  /** Messages at once, and each second. */
  messages: 5000,
  messagesPerSecond: 1000,
  /** Messages in a row that are none: the server speaks something else. */
  faults: 100
}

export type ReadBudget = ReturnType<typeof make>

/** Times are milliseconds of any steady clock. */
export const make = (startedAt: number) => {
  let { messages, octets } = limits
  let at = startedAt
  return {
    /** A message was read; false: read no more for now. */
    take: (size: number): boolean => {
      messages--
      octets -= size
      return messages > 0 && octets > 0
    },
    /** Whether there is enough again to go on. */
    mayRead: (now: number): boolean => {
      const seconds = (now - at) / 1000
      at = now
      messages = Math.min(limits.messages, messages + seconds * limits.messagesPerSecond)
      octets = Math.min(limits.octets, octets + seconds * limits.octetsPerSecond)
      return messages > 0 && octets > 0
    }
  }
}
