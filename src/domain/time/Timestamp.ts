/**
 * Timestamps, guide/requests.md#timestamps: ISO 8601 in UTC with milliseconds on the wire, epoch milliseconds inside.
 */
export const format = (epochMs: number): string => new Date(epochMs).toISOString()

export const formatOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : format(epochMs))

/** RFC 3339 section 5.6: `t` and `z` may be in lower case. */
const instant = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i

/** Any RFC 3339 instant, with `Z` or an offset, its fraction cut to milliseconds; `null` for anything else. */
export const parse = (text: string): number | null => {
  const [, date, time, sign, hours = "0", minutes = "0"] = instant.exec(text) ?? []
  if (date === undefined || time === undefined) return null
  const local = Date.parse(`${date}T${time}Z`)
  // `Date.parse` reads 30 February as 2 March, and 24:00 as the next day.
  if (Number.isNaN(local) || !format(local).startsWith(date)) return null
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  const epochMs = sign === undefined ? local : local - (sign === "-" ? -offsetMs : offsetMs)
  // An offset can lead out of the four-digit years, which are all that the wire form has.
  return epochMs >= earliest && epochMs <= latest ? epochMs : null
}

const earliest = Date.parse("0000-01-01T00:00:00.000Z")
const latest = Date.parse("9999-12-31T23:59:59.999Z")
