import { Result } from "effect"
import * as Grammar from "../Grammar.ts"
import * as NameAddr from "./NameAddr.ts"
import { headers, type SipMessage } from "../SipMessage.ts"
import * as SipUri from "./SipUri.ts"

/** The elements of Route or Record-Route in the order of the message, RFC 3261 sections 20.30 and 20.34. */
export const elements = (message: SipMessage, name: "Route" | "Record-Route"): ReadonlyArray<string> =>
  Grammar.tokens(headers(message, name))

/** The URI of an element; a malformed element is taken as a URI without brackets. */
export const uri = (element: string): string =>
  Result.match(NameAddr.parse(element), { onFailure: () => element, onSuccess: (value) => value.uri })

const sipUri = (element: string): SipUri.SipUri | null => Result.getOrNull(SipUri.parseSipUri(uri(element)))

/**
 * Whether the element names a strict router, one without `lr` (section 16.12.1.1). Malformed elements count as loose.
 */
export const isStrict = (element: string): boolean => {
  const parsed = sipUri(element)
  return parsed !== null && !SipUri.hasParam(parsed, "lr")
}

/** The URI of an element without headers and `method`, which no Request-URI may hold (section 19.1.1, table 1). */
export const requestUri = (element: string): string => {
  const parsed = sipUri(element)
  if (parsed === null) return uri(element)
  return SipUri.format({ ...parsed, headers: [], params: parsed.params.filter(([name]) => name !== "method") })
}
