import * as Policies from "../../../domain/fair/Policies.ts"
import * as TokenBucket from "../../../domain/fair/TokenBucket.ts"

/**
 * Decides which sightings of strangers become a line of the log, for a person and for fail2ban
 * (guide/sip.md#security-log).
 *
 * A source gets a line at most every `everyMs`, and all together as many as `Policies.securityLines` says. Messages
 * without a line are counted, and the next line of their source or the summary reports the number. At most
 * `maxSources` are remembered. Mutable.
 */
interface SecurityLog {
  /** How many messages of this source the line reports; null when it gets no line now. */
  readonly note: (source: string, now: number) => number | null
  /** Returns the number of messages that no line has reported since the last call, and resets it. */
  readonly untold: () => number
}

const everyMs = 1_000
const maxSources = 4_096
/** How long after its line a source is remembered. */
const keptMs = 60_000

export const make = (): SecurityLog => {
  /** When each source had its last line, and its messages since then, in the order of the last lines. */
  const sources = new Map<string, { readonly at: number; since: number }>()
  const lines = TokenBucket.make(Policies.securityLines)
  let untold = 0

  const forget = (now: number): void => {
    for (const [source, { at, since }] of sources) {
      if (at + keptMs > now && sources.size < maxSources) return
      sources.delete(source)
      untold += since
    }
  }

  return {
    note: (source, now) => {
      forget(now)
      const known = sources.get(source)
      if (known !== undefined && known.at + everyMs > now) {
        known.since++
        return null
      }
      if (!lines.take(now)) {
        if (known === undefined) untold++
        else known.since++
        return null
      }
      sources.delete(source)
      sources.set(source, { at: now, since: 0 })
      return 1 + (known?.since ?? 0)
    },
    untold: () => {
      const sum = untold
      untold = 0
      return sum
    }
  }
}
