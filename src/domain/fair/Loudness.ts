/**
 * Finds the loud among many strangers: counts messages by source, in two intervals. Mutable.
 *
 * At most `maxSources` are counted in an interval. When there is no room for another one, every count is halved and
 * sources with a count of zero are forgotten. So a source that sends much stays, however many new addresses appear. A
 * count is never too high, so that it may be a reason for a ban; `Loudest` errs the other way.
 */
export interface Loudness {
  /** Counts a message and returns how many its source sent in this interval and the one before. */
  readonly note: (source: string, now: number) => number
  /** The sources, loudest first, with their messages of this interval and the one before. */
  readonly loudest: (
    now: number,
    count: number
  ) => ReadonlyArray<{ readonly source: string; readonly messages: number }>
  /** How many sources are counted at present. */
  readonly size: () => number
}

interface Options {
  readonly intervalMs: number
  readonly maxSources: number
}

export const defaults: Options = { intervalMs: 10_000, maxSources: 4_096 }

export const make = ({ intervalMs, maxSources }: Options = defaults): Loudness => {
  let before = new Map<string, number>()
  let current = new Map<string, number>()
  let since = 0

  const turn = (now: number): void => {
    if (now < since + intervalMs) return
    before = now < since + 2 * intervalMs ? current : new Map()
    current = new Map()
    since = now
  }

  const halve = (): void => {
    for (const [source, messages] of current)
      if (messages > 1) current.set(source, messages >> 1)
      else current.delete(source)
  }

  const sum = (source: string): number => (current.get(source) ?? 0) + (before.get(source) ?? 0)

  return {
    note: (source, now) => {
      turn(now)
      if (current.size >= maxSources && !current.has(source)) halve()
      current.set(source, (current.get(source) ?? 0) + 1)
      return sum(source)
    },
    loudest: (now, count) => {
      turn(now)
      return [...new Set([...current.keys(), ...before.keys()])]
        .map((source) => ({ source, messages: sum(source) }))
        .sort((a, b) => b.messages - a.messages)
        .slice(0, count)
    },
    size: () => current.size
  }
}
