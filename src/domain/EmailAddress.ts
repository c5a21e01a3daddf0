/** E-mail addresses by RFC 5321 and RFC 6531. */

const split = (address: string): readonly [local: string, domain: string] => {
  const at = address.lastIndexOf("@")
  return [address.slice(0, at), address.slice(at + 1)]
}

/** The ASCII form of a domain (UTS #46), which DNS treats as the same; an invalid domain stays as it is. */
const inAscii = (domain: string): string =>
  /^[\0-\x7f]*$/.test(domain) ? domain : (URL.parse(`http://${domain}`)?.hostname ?? domain)

/**
 * The one spelling in which an address is kept and looked up: composed, in lower case, its domain in ASCII. Two texts
 * that lead to one mailbox for every mail server are one address.
 */
export const canonical = (address: string): string => {
  const [local, domain] = split(address.normalize("NFC").toLowerCase())
  return `${local}@${inAscii(domain)}`
}

const octets = (text: string): number => new TextEncoder().encode(text).length

/** Why the address is too long for mail, RFC 5321 section 4.5.3.1 and RFC 1035 section 2.3.4; null: it is not. */
export const tooLong = (address: string): string | null => {
  const [local, domain] = split(canonical(address))
  if (octets(local) > 64) return "has more than 64 octets before the @"
  if (domain.length > 253 || domain.split(".").some((label) => label.length > 63))
    return "has a domain that is longer than DNS allows"
  return null
}

/** A provider that is known to ignore a part of an address. */
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
  const [local, domain] = split(canonical(email))
  const provider = providers.find(({ domains }) => domains.includes(domain))
  if (provider === undefined) return `${local}@${domain}`
  const untagged = local.split("+", 1).join("")
  return `${provider.ignores === null ? untagged : untagged.replaceAll(provider.ignores, "")}@${provider.domains[0]}`
}

/**
 * The mailbox for which letters are counted: the folded address without a tag (`+…`), at every provider. At the few
 * that know no tags, two people may be counted as one.
 */
export const mailbox = (email: string): string => {
  const [local, domain] = split(folded(email))
  const [untagged = ""] = local.split("+", 1)
  return `${untagged === "" ? local : untagged}@${domain}`
}
