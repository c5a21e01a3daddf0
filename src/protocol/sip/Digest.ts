import { hash, timingSafeEqual } from "node:crypto"
import { Result, Struct } from "effect"
import * as Grammar from "./message/Grammar.ts"

/** The supported hash algorithms, RFC 7616 and RFC 8760, strongest first. */
const algorithms = {
  "SHA-512-256": "sha512-256",
  "SHA-512-256-sess": "sha512-256",
  "SHA-256": "sha256",
  "SHA-256-sess": "sha256",
  MD5: "md5",
  "MD5-sess": "md5"
} as const

export type Algorithm = keyof typeof algorithms

const names = Struct.keys(algorithms)

const hashes = ["md5", "sha256", "sha512-256"]

/** A session form is as strong as the plain one. */
const strength = (algorithm: Algorithm): number => hashes.indexOf(algorithms[algorithm])

/** Whether the secret is hashed anew for each server nonce, with our first nonce for it (RFC 7616 section 3.4.2). */
const isOfSession = (algorithm: Algorithm): boolean => algorithm.endsWith("-sess")

/** A `WWW-Authenticate` or `Proxy-Authenticate` value that can be answered, RFC 3261 section 22.4. */
export interface Challenge {
  readonly realm: string
  readonly nonce: string
  readonly opaque: string | null
  readonly algorithm: Algorithm
  /** `none` is the form of RFC 2069: no qop, no cnonce, no count. */
  readonly qop: "auth" | "none"
  /** The previous nonce was too old, but the credentials were right. */
  readonly stale: boolean
}

/** An `Authorization` or `Proxy-Authorization` value. */
export interface Credentials {
  readonly username: string
  readonly realm: string
  readonly nonce: string
  readonly uri: string
  /** Lower-case hexadecimal. */
  readonly response: string
  readonly algorithm: Algorithm
  readonly opaque: string | null
  /** The client's nonce with `qop=auth`, and how many requests it has made with our nonce. Null without `qop`. */
  readonly protection: { readonly cnonce: string; readonly count: number } | null
  /** The client's nonce; null when it sent none. */
  readonly cnonce: string | null
}

type Fields = ReadonlyMap<string, string>

/** Reads `Digest name=value, name="value"` with names in lower case and values without quotes. */
const fields = (value: string): Fields | null => {
  const text = Grammar.trimmed(value)
  const scheme = /^Digest[ \t]+/i.exec(text)
  if (scheme === null) return null
  const found = new Map<string, string>()
  for (const element of Grammar.splitList(text.slice(scheme[0].length))) {
    if (element === "") continue
    const equals = element.indexOf("=")
    const name = Grammar.trimmed(element, 0, Math.max(equals, 0)).toLowerCase()
    const raw = Grammar.trimmed(element, equals + 1)
    if (!Grammar.isToken(name) || found.has(name)) return null
    if (!raw.startsWith('"')) found.set(name, raw)
    else if (raw.length > 1 && Grammar.closingQuote(raw, 0) === raw.length - 1)
      found.set(name, Grammar.unescapeQuoted(raw.slice(1, -1)))
    else return null
  }
  return found
}

const algorithmOf = (found: Fields): Algorithm | null => {
  const asked = (found.get("algorithm") ?? "MD5").toLowerCase()
  return names.find((name) => name.toLowerCase() === asked) ?? null
}

/**
 * Fails with the fault, or with the feature that is not supported (scheme, algorithm, `auth-int` only). Never throws.
 */
export const parseChallenge = (value: string): Result.Result<Challenge, string> => {
  const found = fields(value)
  if (found === null) return Result.fail("not a Digest challenge")
  const realm = found.get("realm")
  const nonce = found.get("nonce")
  if (realm === undefined || nonce === undefined) return Result.fail("challenge without realm or nonce")
  const algorithm = algorithmOf(found)
  if (algorithm === null) return Result.fail("algorithm not supported")
  const offered = found.get("qop")
  const qop = offered === undefined ? "none" : "auth"
  if (offered !== undefined && !Grammar.splitList(offered).some((option) => option.toLowerCase() === "auth"))
    return Result.fail("qop not supported")
  const stale = found.get("stale")?.toLowerCase() === "true"
  return Result.succeed({ realm, nonce, opaque: found.get("opaque") ?? null, algorithm, qop, stale })
}

/**
 * Decides what to do about a 401 or 407 with these challenge values (one a header line, RFC 8760 section 2.3).
 *
 * The strongest supported algorithm is taken, the topmost among equals. `attempted` is the challenge that the refused
 * request had already answered. The same realm again without `stale` means that the credentials are wrong, so that a
 * client never loops.
 */
export const choose = (
  values: ReadonlyArray<string>,
  attempted: Challenge | null
): { readonly type: "answer"; readonly challenge: Challenge } | { readonly type: "refused" | "unsupported" } => {
  let best: Challenge | null = null
  for (const value of values) {
    const parsed = parseChallenge(value)
    if (Result.isFailure(parsed)) continue
    if (best === null || strength(parsed.success.algorithm) > strength(best.algorithm)) best = parsed.success
  }
  if (best === null) return { type: "unsupported" }
  if (attempted !== null && attempted.realm === best.realm && !best.stale) return { type: "refused" }
  return { type: "answer", challenge: best }
}

/** The header that answers a 401 or a 407. */
export const answerHeader = (status: 401 | 407): "Authorization" | "Proxy-Authorization" =>
  status === 401 ? "Authorization" : "Proxy-Authorization"

export interface Answer {
  readonly challenge: Challenge
  readonly username: string
  readonly password: string
  readonly method: string
  /** The Request-URI exactly as it will be sent. */
  readonly uri: string
  /** Unguessable; the same for all requests with one nonce, because a session form has it in its secret. */
  readonly cnonce: string
  /** 1 for the first request with this nonce, then one more each time. */
  readonly count: number
}

/** The value of the header that answers `challenge`, RFC 7616 section 3.4. */
export const authorization = (answer: Answer): string => {
  const { challenge, username, uri } = answer
  const protection = challenge.qop === "auth" ? { cnonce: answer.cnonce, count: answer.count } : null
  const secret = ha1(challenge.algorithm, username, challenge.realm, answer.password)
  const response = digest({ ...challenge, uri, protection, cnonce: answer.cnonce }, secret, answer.method)
  const q = Grammar.quote
  let text = `Digest username=${q(username)}, realm=${q(challenge.realm)}, nonce=${q(challenge.nonce)}, uri=${q(uri)}`
  text += `, response="${response}", algorithm=${challenge.algorithm}`
  if (protection !== null || isOfSession(challenge.algorithm)) text += `, cnonce=${q(answer.cnonce)}`
  if (protection !== null) text += `, qop=auth, nc=${countText(protection.count)}`
  return challenge.opaque === null ? text : `${text}, opaque=${q(challenge.opaque)}`
}

/** Server side: the challenge as a header value. */
export const formatChallenge = (challenge: Challenge): string => {
  const q = Grammar.quote
  let text = `Digest realm=${q(challenge.realm)}, nonce=${q(challenge.nonce)}, algorithm=${challenge.algorithm}`
  if (challenge.qop === "auth") text += `, qop="auth"`
  if (challenge.opaque !== null) text += `, opaque=${q(challenge.opaque)}`
  return challenge.stale ? `${text}, stale=true` : text
}

/** Server side: reads a client's credentials. Fails with the fault or the unsupported feature. Never throws. */
export const parseCredentials = (value: string): Result.Result<Credentials, string> => {
  const found = fields(value)
  if (found === null) return Result.fail("not Digest credentials")
  const username = found.get("username")
  const realm = found.get("realm")
  const nonce = found.get("nonce")
  const uri = found.get("uri")
  const response = found.get("response")?.toLowerCase()
  if (username === undefined || realm === undefined || nonce === undefined || uri === undefined || !response)
    return Result.fail("credentials lack a field")
  const algorithm = algorithmOf(found)
  if (algorithm === null) return Result.fail("algorithm not supported")
  const qop = found.get("qop")?.toLowerCase()
  const opaque = found.get("opaque") ?? null
  const cnonce = found.get("cnonce") ?? null
  const known = { username, realm, nonce, uri, response, algorithm, opaque, cnonce }
  if (qop === undefined) return Result.succeed({ ...known, protection: null })
  const nc = found.get("nc") ?? ""
  if (qop !== "auth" || cnonce === null || !/^[0-9a-f]{8}$/i.test(nc)) return Result.fail("qop not supported")
  return Result.succeed({ ...known, protection: { cnonce, count: Number.parseInt(nc, 16) } })
}

/**
 * Server side: whether `credentials` were made with this `ha1` for a request of `method`; compared in constant time.
 *
 * The caller checks the rest: that the nonce is its own and fresh, that the count rises, and that realm, algorithm and
 * URI are those of its challenge.
 */
export const verify = (credentials: Credentials, secret: string, method: string): boolean => {
  const expected = new TextEncoder().encode(digest(credentials, secret, method))
  const given = new TextEncoder().encode(credentials.response)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The hash of user, realm and password, which a server stores in place of the password, in hexadecimal. */
export const ha1 = (algorithm: Algorithm, username: string, realm: string, password: string): string =>
  hash(algorithms[algorithm], `${username}:${realm}:${password}`)

const digest = (
  input: Pick<Credentials, "algorithm" | "nonce" | "uri" | "protection" | "cnonce">,
  stored: string,
  method: string
): string => {
  const name = algorithms[input.algorithm]
  const secret = isOfSession(input.algorithm) ? hash(name, `${stored}:${input.nonce}:${input.cnonce ?? ""}`) : stored
  const ha2 = hash(name, `${method}:${input.uri}`)
  const { protection } = input
  return protection === null
    ? hash(name, `${secret}:${input.nonce}:${ha2}`)
    : hash(name, `${secret}:${input.nonce}:${countText(protection.count)}:${protection.cnonce}:auth:${ha2}`)
}

const countText = (count: number): string => count.toString(16).padStart(8, "0")
