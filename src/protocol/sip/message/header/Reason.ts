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

/** The first well-formed Reason; null when there is none. */
export const of = (message: SipMessage): Reason | null => {
  for (const value of headers(message, "Reason").flatMap(Grammar.splitList)) {
    const end = Grammar.tokenEnd(value, 0)
    const params = Params.parse(value, end)
    if (end === 0 || end > 32 || params === null) continue
    const text = Params.get(params, "text")
    return {
      protocol: value.slice(0, end).toUpperCase(),
      cause: Grammar.decimal(Params.get(params, "cause") ?? "", 9),
      text: text === null ? null : text.replace(/\p{Cc}/gu, "").slice(0, maxText)
    }
  }
  return null
}
