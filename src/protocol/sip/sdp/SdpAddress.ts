import ipaddr from "ipaddr.js"

/**
 * The kind of address in a `c=` line, RFC 8866 section 5.7. `held`: nothing is to be sent (RFC 3264 section 8.4).
 * `refused`: a group (224.0.0.0/4, ff00::/8), a broadcast, a name or no address at all. Media is never sent there: a
 * group is not one side of a call, and a name would let a peer choose what we resolve.
 */
export type SdpAddress = "unicast" | "held" | "refused"

export const kindOf = (address: string): SdpAddress => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    if (address === "0.0.0.0") return "held"
    const range = ipaddr.IPv4.parse(address).range()
    return range === "multicast" || range === "broadcast" || range === "unspecified" ? "refused" : "unicast"
  }
  if (!ipaddr.IPv6.isValid(address)) return "refused"
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return kindOf(parsed.toIPv4Address().toString())
  const range = parsed.range()
  return range === "unspecified" ? "held" : range === "multicast" ? "refused" : "unicast"
}
