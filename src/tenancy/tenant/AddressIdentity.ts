import { hash } from "node:crypto"
import * as EmailAddress from "../../domain/EmailAddress.ts"

/**
 * Who an e-mail address belongs to, as far as its spelling may vary at the providers that are known to ignore a part of
 * it. It decides who gets a trial credit, guide/money.md#the-balance, and nothing else.
 */
interface Provider {
  /** The names of one and the same mailbox; the first one stands for all. */
  readonly domains: readonly [string, ...ReadonlyArray<string>]
  /** What is ignored before the `@`, besides what follows a `+`. */
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

/** The address in the one spelling that stands for all of its spellings. */
export const folded = (email: string): string => {
  const address = EmailAddress.canonical(email)
  const at = address.lastIndexOf("@")
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  const provider = providers.find(({ domains }) => domains.includes(domain))
  if (provider === undefined) return `${local}@${domain}`
  const untagged = local.split("+", 1).join("")
  return `${provider.ignores === null ? untagged : untagged.replaceAll(provider.ignores, "")}@${provider.domains[0]}`
}

/** As it is kept: SHA-256 of the folded address, in hex. */
export const of = (email: string): string => hash("sha256", folded(email), "hex")
