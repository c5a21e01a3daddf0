import { Result } from "effect"
import * as Grammar from "../Grammar.ts"
import * as NameAddr from "./NameAddr.ts"
import * as Params from "./Params.ts"
import { header, headers, type SipMessage } from "../SipMessage.ts"
import * as SipUri from "./SipUri.ts"

/** The levels that keep a number from the called party, RFC 3323 section 4.2 and RFC 3325 section 9.3. */
const hiding = new Set(["id", "user", "header"])

/** The levels that keep earlier targets of a call from the called party, RFC 7044 section 10.1 and RFC 3323. */
const hidingHistory = new Set(["history", "header", "session"])

/** The levels of a Privacy value, in lower case. */
const levelsIn = (value: string): ReadonlyArray<string> =>
  value.split(/[;,]/).map((level) => level.trim().toLowerCase())

const asks = (message: SipMessage, levels: ReadonlySet<string>): boolean =>
  headers(message, "Privacy").some((value) => levelsIn(value).some((level) => levels.has(level)))

/**
 * Whether the sender withholds its number: by the Privacy header, by an anonymous From (RFC 3323 section 4.1.1.3), or
 * by the parameter of its Remote-Party-ID. A trunk sends us the number all the same (P-Asserted-Identity, and often
 * From), but we must not pass it on.
 *
 * `none`, `session`, `critical` and `history` hide no number.
 */
export const withholdsNumber = (request: SipMessage): boolean =>
  asks(request, hiding) || isAnonymous(header(request, "From")) || remoteParty(request, "uri")

/** Whether the sender withholds its name. A withheld number withholds the name, too. */
export const withholdsName = (request: SipMessage): boolean => withholdsNumber(request) || remoteParty(request, "name")

/** Whether the sender withholds who had the call before it was diverted to us. */
export const withholdsHistory = (request: SipMessage): boolean => asks(request, hidingHistory)

/** Whether the Privacy value of one entry of History-Info withholds it. */
export const hidesEntry = (value: string): boolean => levelsIn(value).some((level) => hidingHistory.has(level))

/**
 * Whether a `privacy` parameter of Diversion (RFC 5806) or Remote-Party-ID hides this part: `full`, or the part itself.
 * What follows a hyphen says who has to hide it.
 */
export const hidesPart = (params: Params.Params, part: "name" | "uri"): boolean =>
  params.some(([name, value]) => {
    const level = (value ?? "").toLowerCase().split("-", 1)[0]
    return name === "privacy" && (level === "full" || level === part)
  })

/** Whether a Remote-Party-ID is that of the caller. Without `party` it is, in a request. */
export const isOfCaller = (params: Params.Params): boolean =>
  (Params.get(params, "party") ?? "calling").toLowerCase() === "calling"

const remoteParty = (request: SipMessage, part: "name" | "uri"): boolean =>
  headers(request, "Remote-Party-ID")
    .flatMap(Grammar.splitList)
    .some((value) => {
      const { params = [] } = Result.getOrUndefined(NameAddr.parse(value)) ?? {}
      return isOfCaller(params) && hidesPart(params, part)
    })

const isAnonymous = (from: string | null): boolean => {
  const named = from === null ? null : Result.getOrNull(NameAddr.parse(from))
  const uri = named === null ? null : Result.getOrNull(SipUri.parse(named.uri))
  if (uri?.type !== "sip") return false
  return uri.host.toLowerCase() === "anonymous.invalid" || uri.user?.toLowerCase() === "anonymous"
}
