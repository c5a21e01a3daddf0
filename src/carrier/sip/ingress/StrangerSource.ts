import ipaddr from "ipaddr.js"

/**
 * The source that a stranger's message counts against: an IPv4 address, or an IPv6 network of 64 bits, because one host
 * can use all of it.
 */
export const of = (address: string): string =>
  address.includes(":") && ipaddr.IPv6.isValid(address)
    ? `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toRFC5952String()}/64`
    : address
