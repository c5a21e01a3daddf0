import { Result } from "effect"
import * as Grammar from "../Grammar.ts"
import * as Params from "./Params.ts"

/**
 * A value of From, To, Contact, Route, Record-Route or Refer-To, RFC 3261 section 20.10.
 *
 * `displayName` is without quotes, empty when there is none. `uri` is text with a scheme; `SipUri.parse` reads it.
 */
export interface NameAddr {
  readonly displayName: string
  readonly uri: string
  /** Parameters of the header, never of the URI. */
  readonly params: Params.Params
}

const uriPattern = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"\p{Cc}]+$/u

/**
 * Reads one value; fails with the fault. Never throws.
 *
 * It is wider than the grammar in one place: an unquoted display name may hold characters that a token may not, except
 * quotes, brackets, colon and the separators `,` and `;`.
 */
export const parse = (value: string): Result.Result<NameAddr, string> => {
  const start = Grammar.skipSpace(value, 0)
  let displayName = ""
  let open: number
  if (value.charCodeAt(start) === 0x22) {
    const close = Grammar.closingQuote(value, start)
    if (close === -1) return Result.fail("unterminated display name")
    displayName = Grammar.unescapeQuoted(value.slice(start + 1, close))
    open = Grammar.skipSpace(value, close + 1)
    if (value.charCodeAt(open) !== 0x3c) return Result.fail("no URI after display name")
  } else {
    open = value.indexOf("<", start)
    if (open === -1) return parseBare(value, start)
    displayName = Grammar.trimmed(value, start, open)
    if (displayName.includes(":")) return parseBare(value, start)
    if (/[",;>]/.test(displayName)) return Result.fail("malformed display name")
  }
  const close = value.indexOf(">", open)
  if (close === -1) return Result.fail("unterminated URI")
  return make(displayName, value.slice(open + 1, close), Params.parse(value, close + 1))
}

/** Without brackets every parameter belongs to the header, and the URI may hold neither comma nor question mark. */
const parseBare = (value: string, start: number): Result.Result<NameAddr, string> => {
  const semicolon = value.indexOf(";", start)
  const end = semicolon === -1 ? value.length : semicolon
  const uri = Grammar.trimmed(value, start, end)
  if (/[,?]/.test(uri)) return Result.fail("URI needs brackets")
  return make("", uri, Params.parse(value, end))
}

const make = (displayName: string, uri: string, params: Params.Params | null): Result.Result<NameAddr, string> =>
  !uriPattern.test(uri)
    ? Result.fail("malformed URI")
    : params === null
      ? Result.fail("malformed parameter")
      : Result.succeed({ displayName, uri, params })

/** All values of a header that may be repeated or comma-separated, in order. */
export const parseAll = (values: ReadonlyArray<string>): Result.Result<ReadonlyArray<NameAddr>, string> => {
  const all: Array<NameAddr> = []
  for (const value of values)
    for (const element of Grammar.splitList(value)) {
      const parsed = parse(element)
      if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
      all.push(parsed.success)
    }
  return Result.succeed(all)
}

/** Always writes brackets, which are never wrong, and quotes around a display name. */
export const format = (value: NameAddr): string =>
  `${value.displayName === "" ? "" : `${Grammar.quote(value.displayName)} `}<${value.uri}>${Params.format(value.params)}`

/** The tag of a From or To value, or `null`. */
export const tag = (value: NameAddr): string | null => Params.get(value.params, "tag")
