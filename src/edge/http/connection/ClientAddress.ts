import { Context, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import ipaddr from "ipaddr.js"
import { type AddressKind, classify } from "../../../ports/egress/Target.ts"

/**
 * Whose word about a caller's address is taken (`TRUST_PROXY`): nobody's, that of one's own networks (loopback, RFC
 * 1918, unique local, link-local), or that of these networks (addresses or CIDR).
 */
export type Trust = "none" | "private" | ReadonlyArray<string>

/** Where a request comes from: the socket's peer, or what a trusted proxy says of it in X-Forwarded-For. */
export class ClientAddress extends Context.Service<
  ClientAddress,
  {
    readonly of: (request: HttpServerRequest.HttpServerRequest) => string | null
    /** Whether this peer is a trusted proxy, whose word is taken. */
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
 * The right-most hop that no trusted proxy vouches for. Every trusted proxy appended the peer that it saw; anybody can
 * have written what stands further left. An entry that is no address ends the walk at the hop before it.
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

/** An IPv4-mapped IPv6 address is the IPv4 address that it is; null for what is no address. */
const normalize = (text: string): string | null => {
  const bare = text.replace(/^\[(.*)\]$/, "$1")
  return ipaddr.isValid(bare) && !/^\d+$/.test(bare) ? ipaddr.process(bare).toString() : null
}

const own: ReadonlySet<AddressKind> = new Set(["loopback", "private", "link_local"])

/** As a predicate over normalized addresses; throws on a network that cannot be read (the configuration checks it first). */
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
