import { Result } from "effect"
import ipaddr from "ipaddr.js"

/** What an IP address is for, after the IANA special-purpose registries (RFC 6890). Only `public` is the Internet. */
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
  /** Documentation, benchmarking, tunnels (6to4, Teredo), class E, everything not yet given out. */
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
/** The prefix of RFC 6052; its local cousin 64:ff9b:1::/48 (RFC 8215) leads wherever its operator likes. */
const nat64 = ipaddr.IPv6.parse("64:ff9b::")
/** IPv4-compatible, RFC 4291 section 2.5.5.1, which `ipaddr.js` takes for mapped when it ends in dots. */
const compatible = /^::\d+\./

/**
 * Says what `address`, an IPv4 or IPv6 literal without brackets, is for.
 *
 * An IPv6 address that is only another way to write an IPv4 one (mapped, or through NAT64) is what that one is. Outside
 * 2000::/3 nothing is public, known or not (`::127.0.0.1` and `::ffff:0:127.0.0.1` are among those).
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
 * The address that a literal leads to, null where it is none: an IPv6 address that is only another way to write an IPv4
 * one (mapped, or through NAT64) is that one.
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

/** What may be reached. */
export interface Rules {
  /** Whether an address may be reached; asked for every literal and every resolved address. */
  readonly permits: (address: string) => boolean
  /** Whether names without a dot, `localhost`, `.local`, `.internal` and their like may be asked for at all. */
  readonly localNames: boolean
}

export const publicOnly: Rules = { permits: (address) => classify(address) === "public", localNames: false }

const reachable: ReadonlySet<AddressKind> = new Set(["public", "loopback", "private", "shared"])

/** With `ALLOW_PRIVATE_TARGETS`: private networks too, but never link-local (cloud metadata) or what is no host. */
export const privateToo: Rules = { permits: (address) => reachable.has(classify(address)), localNames: true }

/**
 * For what the operator configures: any address that a host can have, cloud metadata among them. Only `OperatorTarget`
 * uses it.
 */
export const operators: Rules = {
  permits: (address) => !unreachable.has(classify(address)),
  localNames: true
}
const unreachable: ReadonlySet<AddressKind> = new Set(["unspecified", "multicast", "not_an_address"])

/** What a tenant's URL may be. */
export type Scheme = "https:" | "wss:"

/** Further schemes, by which the operator's own services are reached (`OperatorEgress.ts`). */
type OperatorScheme = Scheme | "http:" | "ws:" | "smtp:" | "smtps:"

const defaultPorts: Readonly<Record<OperatorScheme, number>> = {
  "https:": 443,
  "wss:": 443,
  "http:": 80,
  "ws:": 80,
  "smtps:": 465,
  "smtp:": 587
}

/** An accepted URL, taken apart once. */
export interface Target {
  readonly scheme: OperatorScheme
  /** ASCII, lower case, no brackets, no final dot. */
  readonly host: string
  readonly port: number
  /** Path and query. */
  readonly path: string
  /** As normalised by the URL standard, for resolving a redirect against it. */
  readonly href: string
}

export interface TargetFault {
  readonly reason: "invalid_url" | "blocked"
  /** Follows "the URL …" in a sentence; holds nothing of the URL. */
  readonly detail: string
}

const invalid = (detail: string): Result.Result<never, TargetFault> => Result.fail({ reason: "invalid_url", detail })
const blocked = (detail: string): Result.Result<never, TargetFault> => Result.fail({ reason: "blocked", detail })

/** Unicode code points. */
export const maxUrlLength = 2048

/** Spaces, controls and backslashes, which the URL standard drops or rewrites: what is stored must be what is used. */
// oxlint-disable-next-line no-control-regex
const rewritten = /[\u0000-\u0020\u007f\\]/

/** `https:example.com` and `https:///example.com` are repaired by the URL standard, and by nobody else. */
const spelledOut = /^[a-z]+:\/\/[^/]/i

/** A letter that no form of an address has. To find that a name is no address costs as much as half of a request. */
const neverAddress = /[g-wyz]/

/** RFC 6761, RFC 6762, RFC 8375 and ICANN's `.internal`; and any name without a dot. */
const localName = /^[^.]+$|(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/

/**
 * Reads a URL that a tenant gave, or where a redirect leads, and refuses what no resolver is needed to refuse.
 *
 * The URL standard makes the odd forms of a host ordinary ones first (`0x7f.1`, `2130706433`, `①②⑦.0.0.1` and
 * `127.0.0.1.` are all 127.0.0.1), so the check sees what a connection would see.
 */
export const parse = (
  url: string,
  rules: Rules,
  schemes: ReadonlyArray<OperatorScheme> = ["https:"]
): Result.Result<Target, TargetFault> => {
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

/** `Egress.refuse` of these rules. */
export const refuse = (url: string, rules: Rules, schemes?: ReadonlyArray<Scheme>): string | null =>
  Result.match(parse(url, rules, schemes), { onSuccess: () => null, onFailure: ({ detail }) => detail })
