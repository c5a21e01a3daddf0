import { hash } from "node:crypto"
import type { LedgerEntryView } from "../billing/Billing.ts"
import type { TenantId } from "../../domain/Id.ts"

/**
 * The chain of a tenant's ledger, guide/money.md#proof. Each link is the SHA-256 of the one before and an entry as the
 * API shows it, so every reader of the ledger can compute it again.
 */
export const genesis = (tenantId: TenantId): string => hash("sha256", tenantId, "hex")

/** An entry as JSON in its canonical form (RFC 8785): members sorted by name, no spaces. */
const canonical = (entry: LedgerEntryView): string =>
  JSON.stringify({
    amount_cents: entry.amount_cents,
    balance_after_cents: entry.balance_after_cents,
    created_at: entry.created_at,
    description: entry.description,
    id: entry.id,
    reference_id: entry.reference_id,
    reference_type: entry.reference_type,
    type: entry.type
  })

/** The next link, over `link` (64 hex digits) and the entry. */
export const next = (link: string, entry: LedgerEntryView): string => hash("sha256", link + canonical(entry), "hex")

/** A tenant's seal, as the root contains it. Moments are epoch milliseconds. */
export interface Leaf {
  readonly tenantId: TenantId
  readonly number: number
  readonly throughOrdinal: string
  readonly totalEntries: number
  readonly balanceCents: number
  readonly chainHash: string
  readonly callsRated: number
  readonly callsDebited: number
  readonly callsUntil: number
}

/** The root before the first round. */
export const noRoot = "0".repeat(64)

/** The name of a root. The version decides what the hash covers. */
export interface Named {
  readonly version: number
  readonly number: number
  readonly day: string
}

/** The version of new roots. */
export const rootVersion = 2

type Lines = (of: Named, leaves: ReadonlyArray<Leaf>) => ReadonlyArray<ReadonlyArray<string | number>>

const lines: Readonly<Record<number, Lines>> = {
  2: ({ day, number, version }, leaves) => [
    ["root", version, number, day],
    ...leaves.map((leaf) => [
      leaf.tenantId,
      leaf.number,
      leaf.throughOrdinal,
      leaf.totalEntries,
      leaf.balanceCents,
      leaf.chainHash,
      leaf.callsRated,
      leaf.callsDebited,
      leaf.callsUntil
    ])
  ]
}

/**
 * The root of a round, over the previous root and the seals of the round in the order of the tenants' ids. Returns an
 * empty text, which is no root, for a version that this program does not know.
 */
export const root = (before: string, of: Named, leaves: ReadonlyArray<Leaf>): string => {
  const text = lines[of.version]?.(of, leaves).map((fields) => `${fields.join(" ")}\n`)
  return text === undefined ? "" : hash("sha256", before + text.join(""), "hex")
}
