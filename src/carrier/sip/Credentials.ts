import type { SipTrunk } from "../Carrier.ts"
import * as Digest from "../../protocol/sip/Digest.ts"
import { headers, type Header, type SipRequest, type SipResponse } from "../../protocol/sip/message/SipMessage.ts"

/** How often one request is repeated because of challenges, whatever the peer asks. */
export const maxAttempts = 3

type Name = ReturnType<typeof Digest.answerHeader>

/** The challenges that a request has answered so far: one by the server, one by a proxy, RFC 3261 section 22. */
export interface Credentials {
  readonly attempts: number
  readonly answered: Readonly<Partial<Record<Name, Digest.Challenge>>>
}

export const none: Credentials = { attempts: 0, answered: {} }

/**
 * The header that answers a 401 or 407. Null when there is no answer: the status is another one, the trunk has no
 * password, the peer refused the credentials (a stale nonce is no refusal), or there were too many attempts.
 */
export const answer = (
  before: Credentials,
  trunk: Pick<SipTrunk, "username" | "password"> | null,
  request: SipRequest,
  response: SipResponse,
  cnonce: string
): { readonly header: Header; readonly credentials: Credentials } | null => {
  const { status } = response
  if ((status !== 401 && status !== 407) || before.attempts >= maxAttempts) return null
  if (trunk === null || trunk.username === null || trunk.password === null) return null
  const name = Digest.answerHeader(status)
  const challenges = headers(response, status === 401 ? "WWW-Authenticate" : "Proxy-Authenticate")
  const choice = Digest.choose(challenges, before.answered[name] ?? null)
  if (choice.type !== "answer") return null
  const { challenge } = choice
  const value = Digest.authorization({
    challenge,
    username: trunk.username,
    password: trunk.password,
    method: request.method,
    uri: request.uri,
    cnonce,
    count: 1
  })
  return {
    header: [name, value],
    credentials: { attempts: before.attempts + 1, answered: { ...before.answered, [name]: challenge } }
  }
}
