/** E-mail addresses, as RFC 5321 and RFC 6531 have them. */

const split = (address: string): readonly [local: string, domain: string] => {
  const at = address.lastIndexOf("@")
  return [address.slice(0, at), address.slice(at + 1)]
}

/** A domain is the same in its own letters and in those of DNS (UTS #46); one that is none stays as it is. */
const inAscii = (domain: string): string =>
  /^[\0-\x7f]*$/.test(domain) ? domain : (URL.parse(`http://${domain}`)?.hostname ?? domain)

/**
 * The one spelling in which an address is kept and looked for: composed, in lower case, its domain in the letters of DNS.
 * Two texts that lead to one mailbox for every mail server are one address.
 */
export const canonical = (address: string): string => {
  const [local, domain] = split(address.normalize("NFC").toLowerCase())
  return `${local}@${inAscii(domain)}`
}

const octets = (text: string): number => new TextEncoder().encode(text).length

/** What makes the address too long for mail servers, RFC 5321 section 4.5.3.1 and RFC 1035 section 2.3.4; null: nothing. */
export const tooLong = (address: string): string | null => {
  const [local, domain] = split(canonical(address))
  if (octets(local) > 64) return "has more than 64 octets before the @"
  if (domain.length > 253 || domain.split(".").some((label) => label.length > 63))
    return "has a domain that is longer than DNS allows"
  return null
}
