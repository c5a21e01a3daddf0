import ipaddr from "ipaddr.js"
import type { Address } from "../rtp/PacketPort.ts"

/** An address and a port as Linux takes them on a little-endian machine: `sockaddr_in` or `sockaddr_in6`. */
export type SocketName = Uint8Array & { readonly SocketName: unique symbol }

export const AF_INET = 2
export const AF_INET6 = 10
const lengthOfIpv4 = 16
const lengthOfIpv6 = 28

/** The fields that both begin with, of which the port is in network order, and the address. */
const write = (length: number, family: number, port: number, address: ReadonlyArray<number>, at: number) => {
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, family, true)
  view.setUint16(2, port)
  bytes.set(address, at)
  return { name: bytes as SocketName, view }
}

/**
 * Of an IPv4 or IPv6 literal; null: it is none, or the port is out of range. The zone of a link-local address (RFC 4007
 * section 11) is a number, or the name of an interface whose number is looked up.
 */
export const make = ({ address, port }: Address, interfaceOf: (name: string) => number): SocketName | null => {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return null
  if (ipaddr.IPv4.isValidFourPartDecimal(address))
    return write(lengthOfIpv4, AF_INET, port, ipaddr.IPv4.parse(address).toByteArray(), 4).name
  const [literal = "", zone] = address.split("%", 2)
  if (!ipaddr.IPv6.isValid(literal)) return null
  const { name, view } = write(lengthOfIpv6, AF_INET6, port, ipaddr.IPv6.parse(literal).toByteArray(), 8)
  if (zone !== undefined) view.setUint32(24, /^\d+$/.test(zone) ? Number(zone) : interfaceOf(zone), true)
  return name
}

export const family = (name: SocketName): number => (name.length === lengthOfIpv6 ? AF_INET6 : AF_INET)
