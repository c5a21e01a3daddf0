/** Addresses that lead to a host only from within its own network, such as those behind a NAT. */
import * as IpNetwork from "./IpNetwork.ts"

const linkLocalIpv6 = "fe80::/10"

const local = IpNetwork.networks(
  [
    // Private networks (RFC 1918, RFC 4193), site-local ones of old (RFC 3879), and the shared one of carriers (RFC
    // 6598).
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "fc00::/7",
    "fec0::/10",
    // The host itself and its link.
    "127.0.0.0/8",
    "::1",
    "169.254.0.0/16",
    linkLocalIpv6,
    // No packet comes from these: unspecified, multicast and reserved addresses, and broadcast.
    "0.0.0.0/8",
    "::",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "ff00::/8"
  ].flatMap((text) => IpNetwork.parse(text) ?? [])
)

/**
 * Whether a host can be reached at `address`, its own name for itself, when its packets come from `source`; both are in
 * their one spelling. A global address can. A local one can where `source` is of the same network, which shows that we
 * are in that network, too.
 */
export const isReachable = (address: string, source: string): boolean => {
  const network = local.find(address)
  if (network === null) return true
  // Without its interface, which a URI cannot name (RFC 4007), nothing can be sent to such an address.
  return network !== linkLocalIpv6 && network === local.find(source)
}
