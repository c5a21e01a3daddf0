import * as Grammar from "../Grammar.ts"
import * as Params from "./Params.ts"
import { headers, type SipMessage } from "../SipMessage.ts"

/** A value of Reason: why a request (RFC 3326) or a response (RFC 6432) was sent. */
export interface Reason {
  /** `SIP`, `Q.850` or another protocol, in upper case. */
  readonly protocol: string
  readonly cause: number | null
  readonly text: string | null
}

/** The number of characters of a text that are kept. */
const maxText = 256

/**
 * The reason that says most; null when none is well-formed.
 *
 * A message has one value for each protocol, in any order (RFC 3326 section 2). The cause of Q.850 comes from the
 * network that ended the call, and a SIP status is often only its translation, so Q.850 with a cause is preferred.
 * Otherwise the first value counts.
 */
export const of = (message: SipMessage): Reason | null => {
  const reasons = all(message)
  return reasons.find(({ cause, protocol }) => protocol === "Q.850" && cause !== null) ?? reasons[0] ?? null
}

const all = (message: SipMessage): ReadonlyArray<Reason> => {
  const reasons: Array<Reason> = []
  for (const value of headers(message, "Reason").flatMap(Grammar.splitList)) {
    const end = Grammar.tokenEnd(value, 0)
    const params = Params.parse(value, end)
    if (end === 0 || end > 32 || params === null) continue
    const text = Params.get(params, "text")
    reasons.push({
      protocol: value.slice(0, end).toUpperCase(),
      cause: Grammar.decimal(Params.get(params, "cause") ?? "", 9),
      text: text === null ? null : text.replace(/\p{Cc}/gu, "").slice(0, maxText)
    })
  }
  return reasons
}
