import { Schema } from "effect"

/**
 * The known peers: every address whose calls are accepted. A directory pushes the table to an adapter, which then needs
 * no queries. Updates are plain data, because the adapter may live in another process.
 *
 * A table has a version. A snapshot consists of parts, counted from 0, and takes effect with its last part. Changes
 * lead from the version `since` to `version`. Versions never decrease: a process that begins to push begins above all
 * of them.
 */
const Addresses = Schema.Array(Schema.String)

/** False while names of trunks have not been resolved, so an address that is not in the table may be a trunk's. */
const isWhole = Schema.optionalKey(Schema.Boolean)

export const PeerUpdate = Schema.Union([
  Schema.Struct({
    type: Schema.tag("snapshot"),
    version: Schema.Int,
    part: Schema.Int,
    isLast: Schema.Boolean,
    addresses: Addresses,
    isWhole
  }),
  Schema.Struct({
    type: Schema.tag("changes"),
    since: Schema.Int,
    version: Schema.Int,
    added: Addresses,
    removed: Addresses,
    isWhole
  })
])
export type PeerUpdate = typeof PeerUpdate.Type

/** The number of addresses in one part of a snapshot. */
export const partSize = 10_000

/** The most addresses in a table; the directory pushes no more. One takes about 100 bytes on each side of the port. */
export const maxPeers = 1_000_000

/** Splits a whole table into parts, at least one. */
export function* snapshot(version: number, addresses: ReadonlyArray<string>, isWhole = true): Generator<PeerUpdate> {
  for (let part = 0; part === 0 || part * partSize < addresses.length; part++) {
    const end = (part + 1) * partSize
    yield {
      type: "snapshot",
      version,
      part,
      isLast: end >= addresses.length,
      addresses: addresses.slice(part * partSize, end),
      ...(isWhole ? {} : { isWhole })
    }
  }
}

export interface PeerTable {
  /** 0 before the first table. */
  readonly version: () => number
  /** Whether calls from this address, in its canonical form, are accepted. */
  readonly has: (address: string) => boolean
  readonly size: () => number
  /** False before the first table, and while names of trunks have not been resolved. */
  readonly isWhole: () => boolean
  /**
   * Applies an update and returns the table's version afterwards. It differs from the update's while parts of a
   * snapshot are missing, and when the update is older or does not follow; then the directory has to push a snapshot.
   */
  readonly take: (update: PeerUpdate) => number
}

export const make = (): PeerTable => {
  let version = 0
  let addresses = new Set<string>()
  let whole = false
  /** A snapshot whose last part has not arrived yet. */
  let staged: { readonly version: number; readonly addresses: Set<string>; next: number } | null = null

  const takePart = (update: Extract<PeerUpdate, { readonly type: "snapshot" }>): void => {
    if (update.version < (staged?.version ?? 0)) return
    if (update.part === 0) staged = { version: update.version, addresses: new Set(), next: 0 }
    if (staged?.version !== update.version || staged.next !== update.part) return
    staged.next++
    for (const address of update.addresses) staged.addresses.add(address)
    if (!update.isLast) return
    ;({ version, addresses } = staged)
    whole = update.isWhole ?? true
    staged = null
  }

  return {
    version: () => version,
    has: (address) => addresses.has(address),
    size: () => addresses.size,
    isWhole: () => whole,
    take: (update) => {
      if (update.version <= version) return version
      if (update.type === "snapshot") takePart(update)
      else if (update.since === version) {
        for (const address of update.removed) addresses.delete(address)
        for (const address of update.added) addresses.add(address)
        version = update.version
        whole = update.isWhole ?? true
      }
      return version
    }
  }
}
