import { Result } from "effect"
import * as NameAddr from "./NameAddr.ts"
import type * as Params from "./Params.ts"
import * as SipUri from "./SipUri.ts"

/** A party that a header names. */
export interface Party {
  /** The part of its URI that may be a telephone number, as it was written; empty when there is none. */
  readonly user: string
  /** Its display name; empty when there is none. */
  readonly name: string
}

/** The user of `sip:` without its parameters, the number of `tel:`; null for any other URI. */
export const userOf = (uri: string): string | null => {
  const parsed = Result.getOrUndefined(SipUri.parse(uri))
  if (parsed?.type === "tel") return parsed.number
  if (parsed?.type !== "sip" || parsed.user === null) return null
  return SipUri.decoded(parsed.user).split(";", 1)[0] ?? null
}

/** A value of From, P-Asserted-Identity, Remote-Party-ID or Diversion; null when it cannot be read. */
export const parse = (value: string): (Party & { readonly uri: string; readonly params: Params.Params }) | null => {
  const parsed = Result.getOrNull(NameAddr.parse(value))
  return parsed === null
    ? null
    : { user: userOf(parsed.uri) ?? "", name: parsed.displayName, uri: parsed.uri, params: parsed.params }
}
