import { hash } from "node:crypto"
import * as EmailAddress from "../../domain/EmailAddress.ts"

/**
 * Identifies the owner of an e-mail address across its spellings at providers that are known to ignore a part of it.
 * Only the trial credit depends on it, guide/money.md#the-balance.
 */
interface Provider {
  /** The domains of one and the same mailbox. The first one represents all. */
  readonly domains: readonly [string, ...ReadonlyArray<string>]
  /** The characters that are ignored before the `@`, besides everything after a `+`. */
  readonly ignores: RegExp | null
}

const providers: ReadonlyArray<Provider> = [
  { domains: ["gmail.com", "googlemail.com"], ignores: /\./g },
  { domains: ["icloud.com", "me.com", "mac.com"], ignores: null },
  { domains: ["proton.me", "protonmail.com", "protonmail.ch", "pm.me"], ignores: /[.\-_]/g },
  ...["outlook.com", "hotmail.com", "live.com", "msn.com", "fastmail.com"].map((domain): Provider => ({
    domains: [domain],
    ignores: null
  }))
]

/** The one spelling that represents all spellings of the address. */
export const folded = (email: string): string => {
  const address = EmailAddress.canonical(email)
  const at = address.lastIndexOf("@")
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  const provider = providers.find(({ domains }) => domains.includes(domain))
  if (provider === undefined) return `${local}@${domain}`
  const untagged = local.split("+", 1).join("")
  return `${provider.ignores === null ? untagged : untagged.replaceAll(provider.ignores, "")}@${provider.domains[0]}`
}

/** The stored form: SHA-256 of the folded address, in hex. */
export const of = (email: string): string => hash("sha256", folded(email), "hex")
