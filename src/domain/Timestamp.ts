/**
 * Timestamps, spec §2.1: ISO 8601 in UTC with milliseconds on the wire, epoch milliseconds inside.
 */
export const format = (epochMs: number): string => new Date(epochMs).toISOString()

export const formatOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : format(epochMs))

/** RFC 3339 section 5.6: `t` and `z` may be small, and `Z` may be written as an offset of zero. */
const utc = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(?:Z|[+-]00:00)$/i

/** Any RFC 3339 instant in UTC (decision C22), its fraction cut to milliseconds; `null` for anything else. */
export const parse = (text: string): number | null => {
  const [, date, time] = utc.exec(text) ?? []
  if (date === undefined || time === undefined) return null
  const epochMs = Date.parse(`${date}T${time}Z`)
  // The platform reads 30 February as 2 March, and 24:00 as the next day.
  return !Number.isNaN(epochMs) && format(epochMs).startsWith(date) ? epochMs : null
}
