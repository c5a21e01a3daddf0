import { Result } from "effect"
import * as NameAddr from "./NameAddr.ts"
import { header, headers, type SipMessage } from "../SipMessage.ts"
import * as SipUri from "./SipUri.ts"

/** The levels that keep a number from the called party, RFC 3323 section 4.2 and RFC 3325 section 9.3. */
const hiding = new Set(["id", "user", "header"])

/**
 * Whether the sender withholds its number: by the Privacy header, or by an anonymous From (RFC 3323 section 4.1.1.3). A
 * trunk sends us the number all the same (P-Asserted-Identity, and often From), but we must not pass it on.
 *
 * `none`, `session`, `critical` and `history` hide no number.
 */
export const withholdsNumber = (request: SipMessage): boolean =>
  headers(request, "Privacy").some((value) =>
    value.split(/[;,]/).some((level) => hiding.has(level.trim().toLowerCase()))
  ) || isAnonymous(header(request, "From"))

const isAnonymous = (from: string | null): boolean => {
  const named = from === null ? null : Result.getOrNull(NameAddr.parse(from))
  const uri = named === null ? null : Result.getOrNull(SipUri.parse(named.uri))
  if (uri?.type !== "sip") return false
  return uri.host.toLowerCase() === "anonymous.invalid" || uri.user?.toLowerCase() === "anonymous"
}
