/**
 * The credentials of our requests to a trunk, RFC 3261 section 22: the answers to challenges, and those of later
 * requests, which are sent at once with the nonces that are known.
 */
import type { SipTrunk } from "../Carrier.ts"
import * as Digest from "../../protocol/sip/Digest.ts"
import * as Requests from "../../protocol/sip/message/Requests.ts"
import { headers, type Header, type SipRequest, type SipResponse } from "../../protocol/sip/message/SipMessage.ts"

/** How often one request is repeated because of challenges, whatever the peer asks. */
export const maxAttempts = 3

type Name = ReturnType<typeof Digest.answerHeader>

/** The challenges that one request has answered so far: one by the server, one by a proxy. */
export interface Credentials {
  readonly attempts: number
  readonly answered: Readonly<Partial<Record<Name, Digest.Challenge>>>
}

export const none: Credentials = { attempts: 0, answered: {} }

/** The nonce of a challenge in use. */
interface Nonce {
  readonly challenge: Digest.Challenge
  /** Our own nonce beside it. */
  readonly cnonce: string
  /** How many requests we have made with it. */
  readonly count: number
}

/** The nonces of a trunk that are in use: one of the server, one of a proxy. */
export type Nonces = Readonly<Partial<Record<Name, Nonce>>>

export const noNonces: Nonces = {}

type Login = Pick<SipTrunk, "username" | "password">

const names: ReadonlyArray<Name> = ["Authorization", "Proxy-Authorization"]

/** A request with credentials, and the nonces after it. */
interface Authorized {
  readonly headers: ReadonlyArray<Header>
  readonly nonces: Nonces
}

/** The headers of a request with each of these nonces, whose counts go up. */
const authorized = (
  { password, username }: Login,
  { method, uri }: Pick<SipRequest, "method" | "uri">,
  before: Nonces
): Authorized => {
  const made: Array<Header> = []
  const nonces: Partial<Record<Name, Nonce>> = {}
  for (const name of names) {
    const nonce = before[name]
    if (nonce === undefined || username === null || password === null) continue
    const count = nonce.count + 1
    made.push([name, Digest.authorization({ ...nonce, username, password, method, uri, count })])
    nonces[name] = { ...nonce, count }
  }
  return { headers: made, nonces: made.length === 0 ? before : nonces }
}

/**
 * A new request with credentials by the nonces that are known, and the nonces after it. A server that does not take a
 * nonce again challenges the request as it would without credentials, and gets its answer.
 */
export const signed = (
  trunk: Login | null,
  request: SipRequest,
  before: Nonces
): { readonly request: SipRequest; readonly nonces: Nonces } => {
  if (trunk === null) return { request, nonces: before }
  const { headers, nonces } = authorized(trunk, request, before)
  return { request: Requests.authorized(request, headers), nonces }
}

/** Whether a challenge repeats the nonce that we use, so that its count continues. */
const isSame = (one: Digest.Challenge, other: Digest.Challenge): boolean =>
  one.realm === other.realm && one.nonce === other.nonce && one.algorithm === other.algorithm && one.qop === other.qop

/** The nonces after a response. `again`: repeat the request with these headers; null: the response is final. */
interface Answered {
  readonly nonces: Nonces
  readonly again: { readonly headers: ReadonlyArray<Header>; readonly credentials: Credentials } | null
}

/**
 * Answers a 401 or 407. There is no answer when the status is another one, the trunk has no password, the peer refused
 * the credentials (a stale nonce is no refusal), or there were too many attempts. A refused nonce is forgotten.
 */
export const answer = (
  before: Credentials,
  trunk: Login | null,
  request: SipRequest,
  response: SipResponse,
  cnonce: string,
  nonces: Nonces
): Answered => {
  const { status } = response
  if ((status !== 401 && status !== 407) || trunk === null) return { nonces, again: null }
  if (trunk.username === null || trunk.password === null) return { nonces, again: null }
  const name = Digest.answerHeader(status)
  const { [name]: used, ...others } = nonces
  const refused: Answered = { nonces: others, again: null }
  if (before.attempts >= maxAttempts) return refused
  const challenges = headers(response, status === 401 ? "WWW-Authenticate" : "Proxy-Authenticate")
  const choice = Digest.choose(challenges, before.answered[name] ?? null)
  if (choice.type !== "answer") return refused
  const { challenge } = choice
  const next: Nonce = used !== undefined && isSame(used.challenge, challenge) ? used : { challenge, cnonce, count: 0 }
  const made = authorized(trunk, request, { ...others, [name]: next })
  return {
    nonces: made.nonces,
    again: {
      headers: made.headers,
      credentials: { attempts: before.attempts + 1, answered: { ...before.answered, [name]: challenge } }
    }
  }
}
