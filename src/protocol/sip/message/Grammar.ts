/**
 * The basic rules of the SIP grammar, RFC 3261 section 25.1: token, LWS and quoted-string, as scanners over a string.
 *
 * Positions are UTF-16 indices; every scanner returns an index at most `text.length`.
 */

const tokenCodes = new Uint8Array(128)
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.!%*_+`'~")
  tokenCodes[char.charCodeAt(0)] = 1

const isTokenCode = (code: number): boolean => code < 128 && tokenCodes[code] === 1

/** Index of the first character at or after `at` that cannot be in a token. */
export const tokenEnd = (text: string, at: number): number => {
  let end = at
  while (end < text.length && isTokenCode(text.charCodeAt(end))) end++
  return end
}

export const isToken = (text: string): boolean => text.length > 0 && tokenEnd(text, 0) === text.length

/** Space or tab; an unfolded header has no line breaks. */
export const isSpaceCode = (code: number): boolean => code === 0x20 || code === 0x09

/** Index of the first character at or after `at` that is neither space nor tab. */
export const skipSpace = (text: string, at: number): number => {
  let end = at
  while (end < text.length && isSpaceCode(text.charCodeAt(end))) end++
  return end
}

/** `text` between `from` and `to` without spaces and tabs around it. Unlike `trim`, it keeps other Unicode blanks. */
export const trimmed = (text: string, from = 0, to = text.length): string => {
  const start = Math.min(skipSpace(text, from), to)
  let end = to
  while (end > start && isSpaceCode(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** Index of the quote that closes the one at `open`, or -1. */
export const closingQuote = (text: string, open: number): number => {
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x22) return at
  }
  return -1
}

/** The text between the quotes, with every quoted-pair resolved. */
export const unescapeQuoted = (inner: string): string =>
  inner.includes("\\") ? inner.replace(/\\([^])/g, "$1") : inner

/** Writes a quoted-string. A line break, which no quoted-string can hold, becomes a space. */
export const quote = (text: string): string => `"${text.replace(/[\r\n]+/g, " ").replace(/["\\]/g, "\\$&")}"`

/**
 * The elements of a comma-separated header, RFC 3261 section 7.3.1: commas in quoted strings and in `<…>` do not
 * split. Elements are trimmed; an empty one stays, for its reader to refuse.
 */
export const splitList = (value: string): ReadonlyArray<string> => {
  if (!value.includes(",")) return [trimmed(value)]
  const elements: Array<string> = []
  let start = 0
  let angle = false
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code === 0x22 && !angle) {
      const close = closingQuote(value, at)
      if (close === -1) break
      at = close
    } else if (code === 0x3c) angle = true
    else if (code === 0x3e) angle = false
    else if (code === 0x2c && !angle) {
      elements.push(trimmed(value, start, at))
      start = at + 1
    }
  }
  elements.push(trimmed(value, start))
  return elements
}

/** The non-empty elements of a header that lists tokens (`Require`, `Supported`, `Allow`), over all its lines. */
export const tokens = (values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.flatMap(splitList).filter((element) => element.length > 0)

/** A decimal number of 1 to `digits` digits, or `null`. Leading zeros do not count (RFC 4475 section 3.1.1.1). */
export const decimal = (text: string, digits: number): number | null => {
  if (!/^[0-9]+$/.test(text)) return null
  const significant = text.replace(/^0+(?=[0-9])/, "")
  return significant.length > digits ? null : Number(significant)
}
