/**
 * Timestamps, spec §2.1: ISO 8601 in UTC with milliseconds on the wire, epoch milliseconds inside.
 */
export const format = (epochMs: number): string => new Date(epochMs).toISOString()

export const formatOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : format(epochMs))

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/

/** Any RFC 3339 instant in UTC (decision C22); `null` for anything else. */
export const parse = (text: string): number | null => {
  if (!rfc3339.test(text)) return null
  const epochMs = Date.parse(text)
  return Number.isNaN(epochMs) ? null : epochMs
}
