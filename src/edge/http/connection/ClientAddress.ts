import { Context, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import ipaddr from "ipaddr.js"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
import { type AddressKind, classify } from "../../../ports/egress/EgressTarget.ts"

/**
 * Which proxies are trusted to report a caller's address (`TRUST_PROXY`): none, those in private networks (loopback,
 * RFC 1918, unique local, link-local), or those in the listed networks (addresses or CIDR).
 */
export type Trust = "none" | "private" | ReadonlyArray<string>

/** The address of a request's client: the socket's peer, or the X-Forwarded-For address of a trusted proxy. */
export class ClientAddress extends Context.Service<
  ClientAddress,
  {
    readonly of: (request: HttpServerRequest.HttpServerRequest) => string | null
    /** Whether this peer is a trusted proxy. */
    readonly trusts: (peer: string) => boolean
  }
>()("trunkline/http/ClientAddress") {
  static readonly layer = (trust: Trust) => {
    const trusts = trusted(trust)
    return Layer.succeed(ClientAddress, {
      of: (request) => resolve(Option.getOrNull(request.remoteAddress), request.headers["x-forwarded-for"], trusts),
      trusts: (peer) => {
        const address = normalize(peer)
        return address !== null && trusts(address)
      }
    })
  }
}

/**
 * Returns the right-most hop that is not a trusted proxy, or the left-most one when all are. Every trusted proxy
 * appended the peer that it saw, some with its port; entries further left can be forged. An entry that is no address
 * ends the walk at the hop before it.
 */
export const resolve = (
  peer: string | null,
  forwardedFor: string | undefined,
  trusts: (address: string) => boolean
): string | null => {
  let address = peer === null ? null : normalize(peer)
  if (address === null || forwardedFor === undefined) return address
  for (const hop of forwardedFor.split(",").toReversed()) {
    if (!trusts(address)) return address
    const next = normalize(hop.trim())
    if (next === null) return address
    address = next
  }
  return address
}

/**
 * The notations in which proxies write an address and its port: with or without quotes (RFC 7239 section 6), an IPv6
 * address in brackets or bare. A bare IPv6 address has a port only after eight groups, because in a shorter one the
 * last group may be of the address.
 */
const notations: ReadonlyArray<RegExp> = [
  /^([0-9.]+)(?::[0-9]{1,5})?$/,
  /^\[([^[\]]+)\](?::[0-9]{1,5})?$/,
  /^((?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}):[0-9]{1,5}$/i,
  /^([^[\]]+)$/
]

/** Gives the one spelling of an address, without port and zone; null when the text is no address. */
const normalize = (text: string): string | null => {
  const bare = text.replace(/^"(.*)"$/, "$1")
  for (const notation of notations) {
    const [, address] = notation.exec(bare) ?? []
    // A zone has a meaning on the proxy's machine only, RFC 4007 section 11.
    if (address !== undefined) return IpAddress.canonical(address.replace(/%.*$/, ""))
  }
  return null
}

const own: ReadonlySet<AddressKind> = new Set(["loopback", "private", "link_local"])

/** Builds a predicate over normalized addresses. Throws on an unreadable network; the configuration checks it first. */
export const trusted = (trust: Trust): ((address: string) => boolean) => {
  if (trust === "none") return () => false
  if (trust === "private") return (address) => own.has(classify(address))
  const networks = trust.map((network) =>
    network.includes("/")
      ? ipaddr.parseCIDR(network)
      : ([ipaddr.parse(network), ipaddr.parse(network).kind() === "ipv4" ? 32 : 128] as const)
  )
  return (address) => {
    const parsed = ipaddr.parse(address)
    return networks.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits))
  }
}
