/**
 * The sources that the gate ignores (guide/sip.md#bans): the operator's bans, and its own bans of loud strangers.
 * Mutable.
 *
 * It keeps at most `maxAutomatic` bans of its own; the next one replaces the one that ends first. Durations go by the
 * monotonic clock.
 */
import * as IpNetwork from "../../../domain/network/IpNetwork.ts"
import type { Ban } from "../../peer/IngressBans.ts"
import * as StrangerSource from "./StrangerSource.ts"

export interface BanList {
  readonly covers: (address: string, source: string) => boolean
  /** Replaces the operator's bans by these. Malformed ones are left out. */
  readonly take: (bans: ReadonlyArray<Ban>) => void
  /** Bans a source for `automaticMs`, which begin anew when it is banned already. */
  readonly add: (source: string, reason: string) => void
  /** Removes own bans within the network and returns their number. */
  readonly lift: (network: string) => number
  /** The own bans in force. */
  readonly automatic: () => ReadonlyArray<Ban>
}

export interface Clocks {
  /** The monotonic clock in milliseconds. */
  readonly now: () => number
  /** The wall clock in epoch milliseconds. */
  readonly wallMs: () => number
}

export const automaticMs = 600_000
export const maxAutomatic = 1_000

interface Own {
  readonly reason: string
  readonly since: number
  readonly until: number
}

export const make = ({ now, wallMs }: Clocks): BanList => {
  let operators: ReadonlyArray<{ readonly network: IpNetwork.IpNetwork; readonly until: number }> = []
  let networks = IpNetwork.networks([])
  /** When the first of the operator's bans ends. */
  let settledUntil = Infinity
  /** The own bans in the order in which they end. */
  const own = new Map<string, Own>()

  const settle = (): void => {
    const standing = operators.filter(({ until }) => until > now())
    networks = IpNetwork.networks(standing.map(({ network }) => network))
    settledUntil = Math.min(Infinity, ...standing.map(({ until }) => until))
  }

  const forget = (): void => {
    for (const [source, { until }] of own) {
      if (until > now()) return
      own.delete(source)
    }
  }

  return {
    covers: (address, source) => {
      if (now() >= settledUntil) settle()
      return networks.find(address) !== null || (own.get(source)?.until ?? 0) > now()
    },
    take: (bans) => {
      const ahead = now() - wallMs()
      operators = bans.flatMap(({ expiresAt, network }) => {
        const parsed = IpNetwork.parse(network)
        return parsed === null ? [] : [{ network: parsed, until: expiresAt === null ? Infinity : expiresAt + ahead }]
      })
      settle()
    },
    add: (source, reason) => {
      forget()
      const [first] = own.keys()
      if (own.size >= maxAutomatic && !own.has(source) && first !== undefined) own.delete(first)
      own.delete(source)
      own.set(source, { reason, since: now(), until: now() + automaticMs })
    },
    lift: (network) => {
      const outer = IpNetwork.parse(network)
      if (outer === null) return 0
      // A source of IPv6 is a network of 64 bits, so that naming one address in it removes the ban, too.
      const isWithin = (source: string): boolean => {
        const inner = IpNetwork.parse(source)
        return inner !== null && (IpNetwork.contains(outer, inner) || source === StrangerSource.of(outer.text))
      }
      const lifted = [...own.keys()].filter(isWithin)
      for (const source of lifted) own.delete(source)
      return lifted.length
    },
    automatic: () => {
      forget()
      const ahead = wallMs() - now()
      return [...own].map(([network, { reason, since, until }]) => ({
        network,
        by: "automatic",
        reason,
        createdAt: Math.round(since + ahead),
        expiresAt: Math.round(until + ahead)
      }))
    }
  }
}
