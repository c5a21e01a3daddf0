import ipaddr from "ipaddr.js"

/**
 * The one spelling of an IPv4 or IPv6 literal: for IPv6 that of RFC 5952, for an IPv4-mapped IPv6 address (RFC 4291
 * section 2.5.5.2) the IPv4 one. Null: it is not an address.
 */
export const canonical = (address: string): string | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address
  if (!ipaddr.IPv6.isValid(address)) return null
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.toRFC5952String()
}

export type Family = "ipv4" | "ipv6"

/** The family of an address in its one spelling. */
export const family = (address: string): Family => (address.includes(":") ? "ipv6" : "ipv4")

/** The service's own addresses towards peers of each family; null: it does not use that family. */
export type Addresses = Readonly<Record<Family, string | null>>

/** Only this address, in its family. */
export const only = (address: string): Addresses => ({ ipv4: null, ipv6: null, [family(address)]: address })

/** Whether the address means every address of the machine. */
export const isUnspecified = (address: string): boolean => address === "0.0.0.0" || address === "::"

/** Whether a socket bound there sends to and receives from the family; a socket on `::` uses IPv4-mapped addresses. */
export const reaches = (bound: string, peer: Family): boolean => bound === "::" || family(bound) === peer

/** The spelling of a peer's address for a socket bound there. */
export const named = (bound: string, peer: string): string =>
  family(bound) === "ipv6" && family(peer) === "ipv4" ? `::ffff:${peer}` : peer

/** The host of a URI or a Via: IPv6 in brackets, RFC 3261 section 25.1. */
export const host = (address: string): string => (family(address) === "ipv6" ? `[${address}]` : address)

/**
 * The subscriber of an address, for counting: an IPv4 address, or the /64 of an IPv6 address, because one host can use
 * all of a /64. All texts that are not addresses count as one subscriber.
 */
export const subscriber = (address: string | null): string => network(address, 64)

/**
 * The site of an address, for fair shares: an IPv4 address, or the /48 of an IPv6 address, the most that one site is
 * given (RFC 6177). So the owner of a /48 is not 65,536 subscribers.
 */
export const site = (address: string | null): string => network(address, 48)

const network = (address: string | null, bits: number): string => {
  // The zone of a link-local address is removed, RFC 4007 section 11.
  const spelled = address === null ? null : canonical(address.replace(/%.*$/, ""))
  if (spelled === null) return "unknown"
  if (family(spelled) === "ipv4") return spelled
  return ipaddr.IPv6.networkAddressFromCIDR(`${spelled}/${bits}`).toRFC5952String()
}
