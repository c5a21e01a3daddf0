/** This much sound that became no phrase is kept. Older sound was silence, or is given up. */
const mostMs = 15_000

export type Unsure = ReturnType<typeof make>

/**
 * The sound of a session that a server has been or will be sent, and that it may not have recognized yet. It is sent
 * again when the connection is lost. Positions are milliseconds of the session's sound.
 */
export const make = (rate: number) => {
  const parts: Array<Int16Array> = []
  /** Samples before the first part; `end` counts all samples. */
  let start = 0
  let end = 0
  let isEnded = false

  const drop = (until: number): void => {
    for (let first = parts[0]; first !== undefined && start < until; first = parts[0]) {
      const gone = Math.min(first.length, Math.round(until) - start)
      if (gone <= 0) return
      start += gone
      if (gone === first.length) parts.shift()
      else parts[0] = first.subarray(gone)
    }
  }

  return {
    /** Null: the sound is over. */
    add: (samples: Int16Array | null): void => {
      if (samples === null) {
        isEnded = true
        return
      }
      parts.push(samples)
      end += samples.length
      drop(end - (mostMs * rate) / 1000)
    },
    /** Everything before this position has been recognized. */
    sure: (untilMs: number): void => drop((untilMs * rate) / 1000),
    sound: (): ReadonlyArray<Int16Array> => [...parts],
    startMs: (): number => (start * 1000) / rate,
    isEnded: (): boolean => isEnded
  }
}
