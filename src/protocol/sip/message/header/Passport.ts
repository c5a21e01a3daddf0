import { Option, Schema } from "effect"
import { attestationLevels } from "../../../../domain/caller/CallerTerms.ts"
import * as Grammar from "../Grammar.ts"
import { headers, type SipMessage } from "../SipMessage.ts"

/**
 * The claims of a PASSporT of SHAKEN. Its signature is not checked here: that takes the certificates of the carriers,
 * and the trunk that hands us the call has checked it.
 */
interface Attestation {
  readonly level: (typeof attestationLevels)[number]
  /** The calling number that it is given for: digits without `+`. */
  readonly number: string
}

/** A PASSporT of SHAKEN has about 700 characters, one with a long chain of claims a few thousand. */
const longest = 8_192

const Claims = Schema.fromJsonString(
  Schema.Struct({ attest: Schema.Literals(attestationLevels), orig: Schema.Struct({ tn: Schema.String }) })
)

const utf8 = new TextDecoder("utf-8")

const decoded = (part: string): string | null => {
  if (!/^[A-Za-z0-9_-]+$/.test(part) || part.length % 4 === 1) return null
  const binary = atob(part.replaceAll("-", "+").replaceAll("_", "/"))
  return utf8.decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)))
}

/** The attestation of the first Identity (RFC 8224) in the full form that has one; null when none has. */
export const of = (message: SipMessage): Attestation | null => {
  for (const value of headers(message, "Identity").flatMap(Grammar.splitList)) {
    const [token = ""] = value.slice(0, longest).split(";", 1)
    const [, payload = ""] = token.trim().split(".")
    const claims = Option.getOrNull(Schema.decodeUnknownOption(Claims)(decoded(payload)))
    if (claims !== null) return { level: claims.attest, number: claims.orig.tn.replace(/^\+/, "") }
  }
  return null
}
