/**
 * The addresses of hosts, and which of them were added and removed since the last call. Addresses are counted, because
 * several hosts may have one address. Mutable; at most `capacity` addresses.
 */
interface HostAddresses {
  /**
   * Replaces the addresses of a host; an empty list forgets the host. `false` when there was no room for all of them.
   */
  readonly set: (host: string, addresses: ReadonlyArray<string>) => boolean
  readonly of: (host: string) => ReadonlyArray<string>
  readonly all: () => ReadonlyArray<string>
  /** The addresses added and removed since the last call. */
  readonly changes: () => { readonly added: ReadonlyArray<string>; readonly removed: ReadonlyArray<string> }
}

export const make = (capacity: number): HostAddresses => {
  /** A single address is stored without an array, because most hosts are literals and there may be a million. */
  const byHost = new Map<string, string | ReadonlyArray<string>>()
  /** How many hosts have each address. */
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
      // The old addresses make room first. An address that stays is counted again below, and is neither added nor
      // removed.
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
