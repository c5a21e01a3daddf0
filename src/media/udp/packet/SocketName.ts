import ipaddr from "ipaddr.js"
import type { Address } from "../../rtp/PacketPort.ts"

/** An address and a port as Linux takes them on a little-endian machine: `sockaddr_in` or `sockaddr_in6`. */
export type SocketName = Uint8Array & { readonly SocketName: unique symbol }

export const AF_INET = 2
const AF_INET6 = 10
const lengthOfIpv4 = 16
const lengthOfIpv6 = 28

/** Writes the fields that both structures begin with, the port in network order, and the address. */
const write = (length: number, family: number, port: number, address: ReadonlyArray<number>, at: number) => {
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, family, true)
  view.setUint16(2, port)
  bytes.set(address, at)
  return { name: bytes as SocketName, view }
}

/**
 * Makes the name of an IPv4 or IPv6 literal; null: it is neither, or the port is out of range. The zone of a link-local
 * address (RFC 4007 section 11) is a number, or the name of an interface whose number is looked up.
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

/** Memory for the name of a sender, which the kernel writes with its length. */
export interface NameBuffer {
  readonly bytes: Uint8Array
  readonly length: Uint32Array
}

export const buffer = (): NameBuffer => ({ bytes: new Uint8Array(lengthOfIpv6), length: new Uint32Array(1) })

/** Copies a name; false: it is the same as before. */
export const keep = (name: NameBuffer, kept: NameBuffer): boolean => {
  const length = name.length[0] ?? 0
  let isSame = kept.length[0] === length
  for (let i = 0; i < length && isSame; i++) isSame = name.bytes[i] === kept.bytes[i]
  if (isSame) return false
  kept.bytes.set(name.bytes)
  kept.length.set(name.length)
  return true
}

/** Reads a name. IPv4 that came to a socket of both families is written as IPv4. */
export const read = ({ bytes, length }: NameBuffer, interfaceName: (index: number) => string | null): Address => {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const port = view.getUint16(2)
  if (length[0] !== lengthOfIpv6) return { address: bytes.subarray(4, 8).join("."), port }
  const address = new ipaddr.IPv6([...bytes.subarray(8, 24)])
  if (address.isIPv4MappedAddress()) return { address: address.toIPv4Address().toString(), port }
  const index = view.getUint32(24, true)
  const zone = address.range() === "linkLocal" && index !== 0 ? `%${interfaceName(index) ?? index}` : ""
  return { address: `${address.toRFC5952String()}${zone}`, port }
}

export const family = (name: SocketName): number => (name.length === lengthOfIpv6 ? AF_INET6 : AF_INET)
