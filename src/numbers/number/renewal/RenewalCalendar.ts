/** The months of a number, guide/numbers.md#renewals. All times are epoch milliseconds, all days UTC. */

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate()

/**
 * The moment this many months after `anchorAt`: on the same day at the same time, or on the last day of a month that
 * has no such day.
 */
const monthsAfter = (anchorAt: number, months: number): number => {
  const anchor = new Date(anchorAt)
  const first = new Date(Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth() + months, 1))
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth()]
  const sinceMidnight = anchorAt - Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate())
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), daysIn(year, month))) + sinceMidnight
}

/**
 * The first due date after `at`. Each is counted from the anchor and not from the one before, so that a number of the
 * 31st, which is due on 28 February, is due on 31 March.
 */
export const after = (anchorAt: number, at: number): number => {
  const [anchor, from] = [new Date(anchorAt), new Date(at)]
  const months = (from.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + from.getUTCMonth() - anchor.getUTCMonth()
  const inThatMonth = monthsAfter(anchorAt, months)
  return inThatMonth > at ? inThatMonth : monthsAfter(anchorAt, months + 1)
}
