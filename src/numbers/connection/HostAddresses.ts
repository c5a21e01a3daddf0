/**
 * The addresses of hosts: which are known, and which came and went since the last call. They are counted, because
 * several hosts may have one address. Mutable; at most `capacity` addresses.
 */
export interface HostAddresses {
  /** Replaces the addresses of a host; without any, the host is forgotten. `false`: there was no room for all of them. */
  readonly set: (host: string, addresses: ReadonlyArray<string>) => boolean
  readonly of: (host: string) => ReadonlyArray<string>
  readonly all: () => ReadonlyArray<string>
  /** What came and went since the last call. */
  readonly changes: () => { readonly added: ReadonlyArray<string>; readonly removed: ReadonlyArray<string> }
}

export const make = (capacity: number): HostAddresses => {
  /** A single address stands there by itself: most hosts are literals, and there may be a million. */
  const byHost = new Map<string, string | ReadonlyArray<string>>()
  /** How many hosts have it. */
  const counts = new Map<string, number>()
  const added = new Set<string>()
  const removed = new Set<string>()

  const of = (host: string): ReadonlyArray<string> => {
    const found = byHost.get(host) ?? []
    return typeof found === "string" ? [found] : found
  }

  const count = (address: string): void => {
    const before = counts.get(address) ?? 0
    counts.set(address, before + 1)
    if (before === 0 && !removed.delete(address)) added.add(address)
  }

  const discount = (address: string): void => {
    const before = counts.get(address) ?? 0
    if (before > 1) return void counts.set(address, before - 1)
    counts.delete(address)
    if (!added.delete(address)) removed.add(address)
  }

  return {
    set: (host, addresses) => {
      // First the old ones make room. One that stays is counted again below, and has neither gone nor come.
      for (const address of of(host)) discount(address)
      const wanted = addresses.length < 2 ? addresses : [...new Set(addresses)]
      const kept = wanted.filter((address) => {
        if (!counts.has(address) && counts.size >= capacity) return false
        count(address)
        return true
      })
      if (kept.length === 0) byHost.delete(host)
      else byHost.set(host, kept.length === 1 ? (kept[0] ?? kept) : kept)
      return kept.length === wanted.length
    },
    of,
    all: () => [...counts.keys()],
    changes: () => {
      const found = { added: [...added], removed: [...removed] }
      added.clear()
      removed.clear()
      return found
    }
  }
}
