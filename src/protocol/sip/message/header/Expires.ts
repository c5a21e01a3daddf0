import * as Grammar from "../Grammar.ts"
import { header, type SipRequest } from "../SipMessage.ts"

/** Longer than any call rings. */
const longestSecs = 86_400

/**
 * How long an INVITE waits for its final answer, in milliseconds from its arrival, RFC 3261 section 13.3.1. After that
 * the server answers 487. At most a day; null when the caller names no time, or a malformed one.
 */
export const waitMs = (invite: SipRequest): number | null => {
  const value = header(invite, "Expires")
  if (value === null || !/^[0-9]+$/.test(value)) return null
  return Math.min(Grammar.decimal(value, 9) ?? longestSecs, longestSecs) * 1_000
}
