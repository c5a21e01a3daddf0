import type { TenantId } from "../../domain/Id.ts"

/**
 * The servers that streams of a thread gave up because they broke the protocol, by tenant and host. The next stream to
 * such a server waits before it connects, each time twice as long, because a handshake alone costs the thread a
 * millisecond or two. Times are milliseconds of any steady clock. Mutable.
 */
export const limits = { firstMs: 1_000, mostMs: 30_000, keptMs: 60_000, servers: 10_000 }

interface Entry {
  readonly waitMs: number
  readonly at: number
}

export const make = () => {
  /** In the order of their last failure. */
  const known = new Map<string, Entry>()

  const present = (key: string, now: number): Entry | null => {
    const entry = known.get(key)
    return entry === undefined || now - entry.at > entry.waitMs + limits.keptMs ? null : entry
  }
  const keyOf = (tenant: TenantId, host: string): string => `${tenant} ${host}`

  return {
    gaveUp: (tenant: TenantId, host: string, now: number): void => {
      const key = keyOf(tenant, host)
      const before = present(key, now)
      known.delete(key)
      known.set(key, {
        at: now,
        waitMs: before === null ? limits.firstMs : Math.min(limits.mostMs, 2 * before.waitMs)
      })
      for (const oldest of known.keys()) {
        if (known.size <= limits.servers && present(oldest, now) !== null) return
        known.delete(oldest)
      }
    },
    /** How long a new stream waits. */
    waitMs: (tenant: TenantId, host: string, now: number): number => {
      const entry = present(keyOf(tenant, host), now)
      return entry === null ? 0 : Math.max(0, entry.at + entry.waitMs - now)
    }
  }
}

export type GivenUp = ReturnType<typeof make>
