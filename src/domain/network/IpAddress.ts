import ipaddr from "ipaddr.js"

/**
 * The one spelling of an IPv4 or IPv6 literal: of IPv6 that of RFC 5952, of an IPv4 address within IPv6 (RFC 4291
 * section 2.5.5.2) the IPv4 one. Null: it is no address.
 */
export const canonical = (address: string): string | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address
  if (!ipaddr.IPv6.isValid(address)) return null
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.toRFC5952String()
}

export type Family = "ipv4" | "ipv6"

/** Of an address in its one spelling. */
export const family = (address: string): Family => (address.includes(":") ? "ipv6" : "ipv4")

/** Ours, towards peers of each family; null: we do not speak it. */
export type Addresses = Readonly<Record<Family, string | null>>

/** Only this one, of its family. */
export const only = (address: string): Addresses => ({ ipv4: null, ipv6: null, [family(address)]: address })

/** Whether it stands for every address of the machine. */
export const isUnspecified = (address: string): boolean => address === "0.0.0.0" || address === "::"

/** Families that a socket bound there sends to and hears from; a socket on `::` has IPv4 within IPv6. */
export const reaches = (bound: string, peer: Family): boolean => bound === "::" || family(bound) === peer

/** How a socket bound there names a peer. */
export const named = (bound: string, peer: string): string =>
  family(bound) === "ipv6" && family(peer) === "ipv4" ? `::ffff:${peer}` : peer

/** As a host of a URI or a Via: IPv6 in brackets, RFC 3261 section 25.1. */
export const host = (address: string): string => (family(address) === "ipv6" ? `[${address}]` : address)

/**
 * Who stands behind an address, as one that is counted: an IPv4 address, or the /64 of an IPv6 address, all of which one
 * host can use. What is no address is one nobody.
 */
export const subscriber = (address: string | null): string => network(address, 64)

/**
 * Who stands behind an address, as one that shares with others: an IPv4 address, or the /48 of an IPv6 address, the most
 * that one site is given (RFC 6177). Whoever has a /48 is so no 65,536 subscribers.
 */
export const site = (address: string | null): string => network(address, 48)

const network = (address: string | null, bits: number): string => {
  // Without the zone of a link-local address, RFC 4007 section 11.
  const spelled = address === null ? null : canonical(address.replace(/%.*$/, ""))
  if (spelled === null) return "unknown"
  if (family(spelled) === "ipv4") return spelled
  return ipaddr.IPv6.networkAddressFromCIDR(`${spelled}/${bits}`).toRFC5952String()
}
