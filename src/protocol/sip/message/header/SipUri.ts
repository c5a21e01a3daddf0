import { Result } from "effect"

/**
 * A SIP or SIPS URI, RFC 3261 section 19.1.
 *
 * `user` and `password` are in canonical escaped form: what needs no escape is plain, what needs one is `%HH` in upper
 * case; `decoded` gives the text. `host` is lower case, an IPv6 address keeps its brackets.
 */
export interface SipUri {
  readonly type: "sip"
  readonly scheme: "sip" | "sips"
  readonly user: string | null
  readonly password: string | null
  readonly host: string
  /** 1 to 65,535; `null` is not the same as 5060 (section 19.1.4). */
  readonly port: number | null
  /** Names in lower case, both sides in canonical escaped form. */
  readonly params: UriParams
  /** The headers after `?`, in canonical escaped form. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
}

/** A telephone URI, RFC 3966. `number` is without visual separators, a global one starts with `+`. */
interface TelUri {
  readonly type: "tel"
  readonly number: string
  readonly params: UriParams
}

/** A URI of any other scheme, unparsed. `scheme` is lower case. */
interface OtherUri {
  readonly type: "other"
  readonly scheme: string
  readonly rest: string
}

type Uri = SipUri | TelUri | OtherUri

/** `null` for a parameter without a value. */
type UriParams = ReadonlyArray<readonly [name: string, value: string | null]>

const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s
const userPattern = /^(?:[\w\-.!~*'()&=+$,;?/]|%[0-9A-Fa-f]{2})+$/
const passwordPattern = /^(?:[\w\-.!~*'()&=+$,]|%[0-9A-Fa-f]{2})*$/
const paramPattern = /^(?:[\w\-.!~*'()[\]/:&+$]|%[0-9A-Fa-f]{2})+$/
const headerPattern = /^(?:[\w\-.!~*'()[\]/?:+$]|%[0-9A-Fa-f]{2})*$/
const hostPort = /^([A-Za-z0-9_](?:[A-Za-z0-9_.-]*)|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$/
const opaquePattern = /^[!-~\u0080-\uffff]+$/

/** Fails with the fault. Never throws. A host may hold `_`, because container names do. */
export const parse = (text: string): Result.Result<Uri, string> => {
  const split = schemePattern.exec(text)
  if (split === null) return Result.fail("no scheme")
  const scheme = (split[1] ?? "").toLowerCase()
  const rest = split[2] ?? ""
  if (scheme === "sip" || scheme === "sips") return parseSip(scheme, rest)
  if (scheme === "tel") return parseTel(rest)
  return opaquePattern.test(rest) && !/[<>"]/.test(rest)
    ? Result.succeed({ type: "other", scheme, rest })
    : Result.fail("malformed URI")
}

/** Parses like `parse`, for callers that can use only SIP and SIPS. */
export const parseSipUri = (text: string): Result.Result<SipUri, string> =>
  Result.flatMap(parse(text), (uri) => (uri.type === "sip" ? Result.succeed(uri) : Result.fail("not a SIP URI")))

const parseSip = (scheme: "sip" | "sips", rest: string): Result.Result<SipUri, string> => {
  // An unescaped @ occurs only after the user part, which may hold ; and ?.
  const at = rest.indexOf("@")
  let user: string | null = null
  let password: string | null = null
  if (at !== -1) {
    const colon = rest.slice(0, at).indexOf(":")
    user = rest.slice(0, colon === -1 ? at : colon)
    if (!userPattern.test(user)) return Result.fail("malformed user")
    if (colon !== -1) {
      password = rest.slice(colon + 1, at)
      if (!passwordPattern.test(password)) return Result.fail("malformed password")
      password = canonical(password)
    }
    user = canonical(user)
  }
  const hostStart = at + 1
  const question = rest.indexOf("?", hostStart)
  const beforeHeaders = question === -1 ? rest.slice(hostStart) : rest.slice(hostStart, question)
  const semicolon = beforeHeaders.indexOf(";")
  const authority = hostPort.exec(semicolon === -1 ? beforeHeaders : beforeHeaders.slice(0, semicolon))
  if (authority === null) return Result.fail("malformed host")
  const port = authority[2] === undefined ? null : Number(authority[2])
  if (port !== null && (port < 1 || port > 65_535)) return Result.fail("malformed port")
  const params = semicolon === -1 ? [] : parseParams(beforeHeaders.slice(semicolon + 1))
  if (params === null) return Result.fail("malformed parameter")
  const headers = question === -1 ? [] : parseHeaders(rest.slice(question + 1))
  if (headers === null) return Result.fail("malformed header")
  const host = (authority[1] ?? "").toLowerCase()
  return Result.succeed({ type: "sip", scheme, user, password, host, port, params, headers })
}

const parseTel = (rest: string): Result.Result<TelUri, string> => {
  const semicolon = rest.indexOf(";")
  const dialled = semicolon === -1 ? rest : rest.slice(0, semicolon)
  const number = dialled.replace(/[-.()]/g, "")
  if (!/^(?:\+[0-9]+|[0-9A-Fa-f*#]+)$/.test(number)) return Result.fail("malformed telephone number")
  const params = semicolon === -1 ? [] : parseParams(rest.slice(semicolon + 1))
  return params === null ? Result.fail("malformed parameter") : Result.succeed({ type: "tel", number, params })
}

const parseParams = (text: string): UriParams | null => {
  const params: Array<readonly [string, string | null]> = []
  for (const part of text.split(";")) {
    const equals = part.indexOf("=")
    const name = equals === -1 ? part : part.slice(0, equals)
    const value = equals === -1 ? null : part.slice(equals + 1)
    if (!paramPattern.test(name) || (value !== null && !paramPattern.test(value))) return null
    params.push([canonical(name).toLowerCase(), value === null ? null : canonical(value)])
  }
  return params
}

const parseHeaders = (text: string): ReadonlyArray<readonly [string, string]> | null => {
  const headers: Array<readonly [string, string]> = []
  for (const part of text.split("&")) {
    const equals = part.indexOf("=")
    if (equals < 1) return null
    const name = part.slice(0, equals)
    const value = part.slice(equals + 1)
    if (!headerPattern.test(name) || !headerPattern.test(value)) return null
    headers.push([canonical(name), canonical(value)])
  }
  return headers
}

/** Resolves escapes of `unreserved` characters and writes others in upper case, which are equal by section 19.1.4. */
const canonical = (text: string): string =>
  text.includes("%")
    ? text.replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
        const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
        return /[\w\-.!~*'()]/.test(char) ? char : escape.toUpperCase()
      })
    : text

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** The text of an escaped part; bytes that are not UTF-8 become U+FFFD. It may hold any character. */
export const decoded = (part: string): string =>
  part.includes("%")
    ? part.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
        utf8.decode(Uint8Array.from(run.slice(1).split("%"), (hex) => Number.parseInt(hex, 16)))
      )
    : part

/** Writes any text as the `user` of a URI, with the necessary escapes. */
export const escapedUser = (text: string): string =>
  text.toWellFormed().replace(/[^\w\-.!~*'()&=+$,;?/]/gu, (char) => {
    let escaped = ""
    for (const byte of new TextEncoder().encode(char)) escaped += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
    return escaped
  })

export const format = (uri: Uri): string => {
  if (uri.type === "other") return `${uri.scheme}:${uri.rest}`
  let text = uri.type === "tel" ? `tel:${uri.number}` : `${uri.scheme}:`
  if (uri.type === "sip") {
    if (uri.user !== null) text += `${uri.user}${uri.password === null ? "" : `:${uri.password}`}@`
    text += uri.port === null ? uri.host : `${uri.host}:${uri.port}`
  }
  for (const [name, value] of uri.params) text += value === null ? `;${name}` : `;${name}=${value}`
  if (uri.type === "sip" && uri.headers.length > 0)
    text += `?${uri.headers.map(([name, value]) => `${name}=${value}`).join("&")}`
  return text
}

/** The value of a parameter; `null` when it has no value or is absent. */
export const param = (uri: SipUri | TelUri, name: string): string | null =>
  uri.params.find(([key]) => key === name)?.[1] ?? null

export const hasParam = (uri: SipUri | TelUri, name: string): boolean => uri.params.some(([key]) => key === name)
