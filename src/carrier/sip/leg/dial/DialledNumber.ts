import { Result } from "effect"
import * as E164 from "../../../../domain/E164.ts"
import * as NameAddr from "../../../../protocol/sip/message/header/NameAddr.ts"
import * as Privacy from "../../../../protocol/sip/message/header/Privacy.ts"
import { header, headers, type SipRequest } from "../../../../protocol/sip/message/SipMessage.ts"
import * as SipUri from "../../../../protocol/sip/message/header/SipUri.ts"

/** The part of a URI that may be a telephone number: the user of `sip:`, the number of `tel:`, without parameters. */
const subscriber = (uri: string): string | null => {
  const parsed = Result.getOrUndefined(SipUri.parse(uri))
  if (parsed?.type === "tel") return parsed.number
  if (parsed?.type !== "sip" || parsed.user === null) return null
  return SipUri.decoded(parsed.user).split(";", 1)[0] ?? null
}

const number = (uri: string | null): string | null => {
  const user = uri === null ? null : subscriber(uri)
  return user === null ? null : E164.fromDialled(user)
}

const uriIn = (invite: SipRequest, name: "From" | "To"): string | null =>
  Result.getOrNull(NameAddr.parse(header(invite, name) ?? ""))?.uri ?? null

/** The number that an INVITE calls, as E.164: in its Request-URI, else in its To (a trunk may call our Contact). */
export const called = (invite: SipRequest): string | null => number(invite.uri) ?? number(uriIn(invite, "To"))

/**
 * The number of the caller, as E.164: that of From, else that of P-Asserted-Identity (RFC 3325; the sender is a trunk).
 * Without a number it is the unchanged user of From, or `anonymous`. A withheld number is `anonymous`, whatever the
 * trunk asserts. At most 128 characters.
 */
export const caller = (invite: SipRequest): string => {
  if (Privacy.withholdsNumber(invite)) return "anonymous"
  const from = uriIn(invite, "From")
  const asserted = Result.getOrUndefined(NameAddr.parseAll(headers(invite, "P-Asserted-Identity"))) ?? []
  for (const uri of [from, ...asserted.map(({ uri }) => uri)]) {
    const found = number(uri)
    if (found !== null) return found
  }
  const user = from === null ? null : subscriber(from)
  return user === null || user === "" ? "anonymous" : user.slice(0, 128)
}
