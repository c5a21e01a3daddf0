import { Result } from "effect"
import ipaddr from "ipaddr.js"

/**
 * The purpose of an IP address, after the IANA special-purpose registries (RFC 6890). Only `public` is the Internet.
 */
export type AddressKind =
  | "public"
  | "loopback"
  /** RFC 1918, RFC 4193 (unique local). */
  | "private"
  /** RFC 6598, carrier-grade NAT. */
  | "shared"
  | "link_local"
  | "unspecified"
  | "multicast"
  /** Documentation, benchmarking, tunnels (6to4, Teredo), class E, everything that is not assigned yet. */
  | "reserved"
  | "not_an_address"

const kinds: Readonly<Record<string, AddressKind>> = {
  loopback: "loopback",
  private: "private",
  uniqueLocal: "private",
  carrierGradeNat: "shared",
  linkLocal: "link_local",
  unspecified: "unspecified",
  multicast: "multicast"
}

const globalUnicast = ipaddr.IPv6.parse("2000::")
/**
 * The prefix of RFC 6052. An address under the local one, 64:ff9b:1::/48 (RFC 8215), leads wherever its operator wants.
 */
const nat64 = ipaddr.IPv6.parse("64:ff9b::")
/**
 * An IPv4-compatible address (RFC 4291 section 2.5.5.1), which `ipaddr.js` takes for a mapped one when it ends in
 * dotted decimal.
 */
const compatible = /^::\d+\./

/**
 * Gives the purpose of `address`, an IPv4 or IPv6 literal without brackets.
 *
 * An IPv6 address that is only another notation of an IPv4 one (mapped, or through NAT64) has the purpose of that one.
 * Outside 2000::/3 nothing is public, known or not (`::127.0.0.1` and `::ffff:0:127.0.0.1` are among those).
 */
export const classify = (address: string): AddressKind => {
  const parsed = meant(address)
  if (parsed === null) return "not_an_address"
  if (parsed instanceof ipaddr.IPv4) {
    const range = parsed.range()
    return range === "unicast" ? "public" : (kinds[range] ?? "reserved")
  }
  if (compatible.test(address)) return "reserved"
  const range = parsed.range()
  if (range === "unicast") return parsed.match(globalUnicast, 3) ? "public" : "reserved"
  return kinds[range] ?? "reserved"
}

/**
 * Gives the address that a literal leads to; null when it is none. An IPv6 address that is only another notation of an
 * IPv4 one (mapped, or through NAT64) leads to that one.
 */
export const meant = (address: string): ipaddr.IPv4 | ipaddr.IPv6 | null => {
  if (!ipaddr.isValid(address)) return null
  const parsed = ipaddr.parse(address)
  return parsed instanceof ipaddr.IPv6 &&
    !compatible.test(address) &&
    (parsed.isIPv4MappedAddress() || parsed.match(nat64, 96))
    ? new ipaddr.IPv4(parsed.toByteArray().slice(12))
    : parsed
}

export interface Rules {
  /** True when an address may be reached. It is called for every literal and every resolved address. */
  readonly permits: (address: string) => boolean
  /** True when names without a dot, `localhost`, `.local`, `.internal` and the like may be resolved at all. */
  readonly localNames: boolean
}

export const publicOnly: Rules = { permits: (address) => classify(address) === "public", localNames: false }

const reachable: ReadonlySet<AddressKind> = new Set(["public", "loopback", "private", "shared"])

/**
 * The rules with `ALLOW_PRIVATE_TARGETS`: private networks too, but never link-local ones (cloud metadata) or addresses
 * that no host can have.
 */
export const privateToo: Rules = { permits: (address) => reachable.has(classify(address)), localNames: true }

/**
 * The rules for configured services: any address that a host can have, including cloud metadata. Only `OperatorTarget`
 * uses them.
 */
export const operators: Rules = {
  permits: (address) => !unreachable.has(classify(address)),
  localNames: true
}
const unreachable: ReadonlySet<AddressKind> = new Set(["unspecified", "multicast", "not_an_address"])

/** The schemes of tenants' URLs. */
export type Scheme = "https:" | "wss:"

/** The schemes of the operator's own services (`OperatorEgress.ts`). */
type OperatorScheme = Scheme | "http:" | "ws:" | "smtp:" | "smtps:"

const defaultPorts: Readonly<Record<OperatorScheme, number>> = {
  "https:": 443,
  "wss:": 443,
  "http:": 80,
  "ws:": 80,
  "smtps:": 465,
  "smtp:": 587
}

/** An accepted URL, parsed once. */
export interface EgressTarget {
  readonly scheme: OperatorScheme
  /** The host in ASCII and lower case, without brackets and without a final dot. */
  readonly host: string
  readonly port: number
  /** The path with the query. */
  readonly path: string
  /** The URL as normalised by the URL standard, against which a redirect is resolved. */
  readonly href: string
}

export interface EgressTargetFault {
  readonly reason: "invalid_url" | "blocked"
  /** The end of a sentence that begins with "the URL …". It contains nothing of the URL. */
  readonly detail: string
}

const invalid = (detail: string): Result.Result<never, EgressTargetFault> =>
  Result.fail({ reason: "invalid_url", detail })
const blocked = (detail: string): Result.Result<never, EgressTargetFault> => Result.fail({ reason: "blocked", detail })

/** The limit in Unicode code points. */
export const maxUrlLength = 2048

/**
 * Spaces, controls and backslashes are refused because the URL standard drops or rewrites them, and the stored URL must
 * be the one that is used.
 */
// oxlint-disable-next-line no-control-regex
const rewritten = /[\u0000-\u0020\u007f\\]/

/** Refuses `https:example.com` and `https:///example.com`, which only the URL standard repairs. */
const spelledOut = /^[a-z]+:\/\/[^/]/i

/** A letter that no notation of an address has. Parsing a name as an address costs half as much as a request. */
const neverAddress = /[g-wyz]/

/** RFC 6761, RFC 6762, RFC 8375 and ICANN's `.internal`; and any name without a dot. */
const localName = /^[^.]+$|(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/

/**
 * Parses a URL that a tenant gave or a redirect names, and refuses everything that can be refused without a resolver.
 *
 * The URL standard first normalises unusual forms of a host (`0x7f.1`, `2130706433`, `①②⑦.0.0.1` and `127.0.0.1.` are
 * all 127.0.0.1), so the check sees what a connection would see.
 */
export const parse = (
  url: string,
  rules: Rules,
  schemes: ReadonlyArray<OperatorScheme> = ["https:"]
): Result.Result<EgressTarget, EgressTargetFault> => {
  if (url.length > maxUrlLength && Array.from(url).length > maxUrlLength)
    return invalid(`is longer than ${maxUrlLength} characters`)
  if (rewritten.test(url) || !URL.canParse(url)) return invalid("is not a valid URL")
  const parsed = new URL(url)
  const scheme = schemes.find((scheme) => scheme === parsed.protocol)
  if (scheme === undefined) return invalid(`must begin with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`)
  if (!spelledOut.test(url)) return invalid("is not a valid URL")
  if (parsed.username !== "" || parsed.password !== "") return invalid("must not carry a user name or password")
  if (parsed.port === "0") return invalid("has no usable port")

  const bracketed = parsed.hostname.startsWith("[")
  const host = bracketed ? parsed.hostname.slice(1, -1) : parsed.hostname.replace(/\.$/, "")
  if (host === "" || host.length > 253 || host.split(".").includes("")) return invalid("has no valid host")
  if ((bracketed || !neverAddress.test(host)) && ipaddr.isValid(host)) {
    if (!rules.permits(host)) return blocked("points to a private or reserved address")
  } else if (!rules.localNames && localName.test(host)) return blocked("points to a local name")

  return Result.succeed({
    scheme,
    host,
    port: parsed.port === "" ? defaultPorts[scheme] : Number(parsed.port),
    path: parsed.pathname + parsed.search,
    href: parsed.href
  })
}

/** Does `Egress.refuse` with these rules. */
export const refuse = (url: string, rules: Rules, schemes?: ReadonlyArray<Scheme>): string | null =>
  Result.match(parse(url, rules, schemes), { onSuccess: () => null, onFailure: ({ detail }) => detail })
