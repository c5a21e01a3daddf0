import { Result } from "effect"
import ipaddr from "ipaddr.js"
import * as EgressTarget from "./EgressTarget.ts"

/**
 * The operator's rules for where tenants' URLs may lead: hosts (`hooks.example.com`), domains with everything below
 * them (`.example.com`), addresses and networks (`192.0.2.0/24`). They add to the refusals of `Target.ts`.
 *
 * A denied target is refused, whatever else is allowed. Once anything is allowed, everything else is refused: a target
 * must have its host named, or all of its addresses within allowed networks.
 */
export type Verdict = "allow" | "deny"

/** A rule in its canonical form. */
export interface Rule {
  readonly value: string
  readonly verdict: Verdict
}

type Network = readonly [base: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

interface Side {
  readonly hosts: ReadonlySet<string>
  readonly domains: ReadonlyArray<string>
  readonly networks: ReadonlyArray<Network>
}

export interface TargetRules {
  /**
   * True when the host is refused by its name alone, or by its address where it is one. False: its addresses decide,
   * once they are known.
   */
  readonly refusesHost: (host: string) => boolean
  /** True when these are refused as addresses of the host. */
  readonly refuses: (host: string, addresses: ReadonlyArray<string>) => boolean
}

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/** Gives the canonical form of a rule's value; fails with the end of a sentence that begins with "it". */
export const parse = (text: string): Result.Result<string, string> => {
  const value = text.trim().toLowerCase()
  const network = networkOf(value)
  if (network !== null) return Result.succeed(`${masked(network)}/${network[1]}`)
  const isDomain = value.startsWith(".")
  const url = `https://${isDomain ? value.slice(1) : value}`
  const host = /[/:@?#%\\]/.test(value) || !URL.canParse(url) ? "" : new URL(url).hostname.replace(/\.$/, "")
  if (host === "" || host.length > 253 || !host.split(".").every((part) => label.test(part)) || ipaddr.isValid(host))
    return Result.fail("is no host, no domain with a dot before it, no address and no network in CIDR")
  return Result.succeed(isDomain ? `.${host}` : host)
}

const networkOf = (value: string): Network | null => {
  const [address = "", bits, more] = value.split("/")
  if (more !== undefined || !isAddress(address)) return null
  const base = ipaddr.process(address)
  const size = base.kind() === "ipv4" ? 32 : 128
  if (bits === undefined) return [base, size]
  return /^[0-9]{1,3}$/.test(bits) && Number(bits) <= size ? [base, Number(bits)] : null
}

/** Accepts only the full notation, because `ipaddr.js` also reads a bare number. */
const isAddress = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)

const masked = ([base, bits]: Network): string =>
  base instanceof ipaddr.IPv4
    ? ipaddr.IPv4.networkAddressFromCIDR(`${base.toString()}/${bits}`).toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${base.toString()}/${bits}`).toRFC5952String()

const sideOf = (values: ReadonlyArray<string>): Side => {
  const networks = values.map(networkOf).filter((network) => network !== null)
  const names = values.filter((value) => networkOf(value) === null)
  return {
    hosts: new Set(names.filter((name) => !name.startsWith("."))),
    domains: names.filter((name) => name.startsWith(".")),
    networks
  }
}

const names = ({ domains, hosts }: Side, host: string): boolean =>
  hosts.has(host) || domains.some((domain) => host.endsWith(domain) || host === domain.slice(1))

const holds = ({ networks }: Side, address: string): boolean => {
  const parsed = EgressTarget.meant(address)
  if (parsed === null) return false
  return networks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits))
}

/** `rules` are in their canonical form (`parse`). */
export const make = (rules: ReadonlyArray<Rule>): TargetRules => {
  const side = (verdict: Verdict) => sideOf(rules.filter((rule) => rule.verdict === verdict).map(({ value }) => value))
  const allowed = side("allow")
  const denied = side("deny")
  const isOpen = rules.every(({ verdict }) => verdict === "deny")

  const refuses = (host: string, addresses: ReadonlyArray<string>): boolean =>
    names(denied, host) ||
    addresses.some((address) => holds(denied, address)) ||
    !(isOpen || names(allowed, host) || (addresses.length > 0 && addresses.every((address) => holds(allowed, address))))

  return {
    refuses,
    refusesHost: (host) => {
      if (ipaddr.isValid(host)) return refuses(host, [host])
      return names(denied, host) || (!isOpen && allowed.networks.length === 0 && !names(allowed, host))
    }
  }
}

/** Without a rule, everything that `Target.ts` accepts is allowed. */
export const none = make([])
