import * as Grammar from "../Grammar.ts"

/**
 * Parameters after a header value, `;name=value;flag`, RFC 3261 section 25.1 `generic-param`.
 *
 * Names are in lower case. Values are without quotes; `null` is a parameter without a value.
 */
export type Params = ReadonlyArray<readonly [name: string, value: string | null]>

export const has = (params: Params, name: string): boolean => params.some(([key]) => key === name)

/** The value of the first parameter of that name; `null` when it has no value or is absent. */
export const get = (params: Params, name: string): string | null => {
  for (const [key, value] of params) if (key === name) return value
  return null
}

/** `params` with one parameter set, in its place when it exists, else at the end. */
export const set = (params: Params, name: string, value: string): Params =>
  has(params, name)
    ? params.map((param) => (param[0] === name ? ([name, value] as const) : param))
    : [...params, [name, value]]

/** Wider than `token / host`, because base64 tags and bare IPv6 addresses occur on the wire and are harmless here. */
const isValueCode = (code: number): boolean =>
  code > 0x20 && code !== 0x7f && code !== 0x22 && code !== 0x2c && code !== 0x3b && code !== 0x3c && code !== 0x3e

/** The parameters from `from` to the end of `text`, or `null` when the text there is no parameter list. */
export const parse = (text: string, from = 0): Params | null => {
  const params: Array<readonly [string, string | null]> = []
  let at = Grammar.skipSpace(text, from)
  while (at < text.length) {
    if (text.charCodeAt(at) !== 0x3b) return null
    const start = Grammar.skipSpace(text, at + 1)
    at = Grammar.tokenEnd(text, start)
    if (at === start) return null
    const name = text.slice(start, at).toLowerCase()
    at = Grammar.skipSpace(text, at)
    if (text.charCodeAt(at) !== 0x3d) {
      params.push([name, null])
      continue
    }
    at = Grammar.skipSpace(text, at + 1)
    if (text.charCodeAt(at) === 0x22) {
      const close = Grammar.closingQuote(text, at)
      if (close === -1) return null
      params.push([name, Grammar.unescapeQuoted(text.slice(at + 1, close))])
      at = close + 1
    } else {
      const valueStart = at
      while (at < text.length && isValueCode(text.charCodeAt(at))) at++
      if (at === valueStart) return null
      params.push([name, text.slice(valueStart, at)])
    }
    at = Grammar.skipSpace(text, at)
  }
  return params
}

const plainValue = /^[A-Za-z0-9\-.!%*_+`'~:[\]]+$/

/** Writes `;name=value…`; a value that is neither token nor host is quoted. */
export const format = (params: Params): string => {
  let text = ""
  for (const [name, value] of params)
    text += value === null ? `;${name}` : `;${name}=${plainValue.test(value) ? value : Grammar.quote(value)}`
  return text
}
