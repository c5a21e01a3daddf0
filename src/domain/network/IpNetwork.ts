import ipaddr from "ipaddr.js"
import * as IpAddress from "./IpAddress.ts"

/** An address, or a network in CIDR form (RFC 4632, RFC 4291 section 2.3). */
export interface IpNetwork {
  /** Its one spelling: an address without a prefix, or the first address of the network and its prefix. */
  readonly text: string
  readonly family: IpAddress.Family
  /** The bits that its addresses have in common, as `0` and `1`. */
  readonly bits: string
}

const octets = Array.from({ length: 256 }, (_, octet) => octet.toString(2).padStart(8, "0"))

/** All bits of an address in its one spelling, as `0` and `1`. */
const bitsOf = (address: string): string => {
  let bits = ""
  for (const octet of ipaddr.parse(address).toByteArray()) bits += octets[octet] ?? ""
  return bits
}

const addressOf = (bits: string): string =>
  ipaddr.fromByteArray((bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2))).toString()

/** Null: it is neither an address nor a network. Bits after the prefix are cleared. */
export const parse = (text: string): IpNetwork | null => {
  const [host = "", prefix, ...more] = text.trim().split("/")
  const address = IpAddress.canonical(host)
  if (address === null || more.length > 0) return null
  const family = IpAddress.family(address)
  const all = bitsOf(address)
  if (prefix === undefined) return { text: address, family, bits: all }
  // An IPv4-mapped IPv6 address has 96 bits in front.
  const length = /^[0-9]{1,3}$/.test(prefix) ? Number(prefix) - (host.includes(":") && family === "ipv4" ? 96 : 0) : -1
  if (length < 0 || length > all.length) return null
  const bits = all.slice(0, length)
  if (length === all.length) return { text: address, family, bits }
  const first = IpAddress.canonical(addressOf(bits.padEnd(all.length, "0"))) ?? address
  return { text: `${first}/${length}`, family, bits }
}

/** Whether the inner network is within the outer one, or the same. */
export const contains = (outer: IpNetwork, inner: IpNetwork): boolean =>
  outer.family === inner.family && inner.bits.startsWith(outer.bits)

/** Networks to look addresses up in: each lookup takes one step for each prefix length. */
interface IpNetworks {
  /** The smallest network that contains the address, in its one spelling; null: none does. */
  readonly find: (address: string) => string | null
}

export const networks = (all: ReadonlyArray<IpNetwork>): IpNetworks => {
  const byLength = { ipv4: new Map<number, Map<string, string>>(), ipv6: new Map<number, Map<string, string>>() }
  for (const { bits, family, text } of all.toSorted((a, b) => b.bits.length - a.bits.length)) {
    const same = byLength[family].get(bits.length) ?? new Map<string, string>()
    same.set(bits, text)
    byLength[family].set(bits.length, same)
  }
  return {
    find: (address) => {
      const lengths = byLength[IpAddress.family(address)]
      if (lengths.size === 0) return null
      const bits = bitsOf(address)
      for (const [length, same] of lengths) {
        const found = same.get(bits.slice(0, length))
        if (found !== undefined) return found
      }
      return null
    }
  }
}
