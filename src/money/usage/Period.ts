/** The span of time of a usage report, in epoch milliseconds. `end` is exclusive. */
export interface Period {
  readonly start: number
  readonly end: number
}

export const dayMs = 86_400_000

/** The longest span of a report. */
export const longestMs = 92 * dayMs

/** The month of `now`, UTC. */
export const month = (now: number): Period => {
  const today = new Date(now)
  const [year, at] = [today.getUTCFullYear(), today.getUTCMonth()]
  return { start: Date.UTC(year, at, 1), end: Date.UTC(year, at + 1, 1) }
}

/** Whole days lie between these moments, parts of days before and after. They are equal when no day is whole. */
export const wholeDays = ({ end, start }: Period): Period => {
  const from = Math.min(Math.ceil(start / dayMs) * dayMs, end)
  return { start: from, end: Math.max(from, Math.floor(end / dayMs) * dayMs) }
}

export const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The parts of a period by days or months, each with the date on which its day or month begins. */
export const parts = (period: Period, by: "day" | "month"): ReadonlyArray<Period & { readonly date: string }> => {
  const found: Array<Period & { readonly date: string }> = []
  for (let start = period.start; start < period.end;) {
    const whole = by === "month" ? month(start) : { start: Math.floor(start / dayMs) * dayMs, end: 0 }
    const end = Math.min(period.end, by === "month" ? whole.end : whole.start + dayMs)
    found.push({ date: dateOf(whole.start), start, end })
    start = end
  }
  return found
}
