import { hash } from "node:crypto"
import type { LedgerEntryView } from "../billing/Billing.ts"
import type { TenantId } from "../domain/Id.ts"

/**
 * The chain of a tenant's ledger, guide/money.md#proof: each link is the SHA-256 of the one before and an entry as the
 * API shows it, so whoever can read the ledger can compute it again.
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

/** `link`: 64 hex digits; the next one over them and the entry. */
export const next = (link: string, entry: LedgerEntryView): string => hash("sha256", link + canonical(entry), "hex")

/** What a round sealed of a tenant, as the root has it. */
export interface Leaf {
  readonly tenantId: TenantId
  readonly totalEntries: number
  readonly balanceCents: number
  readonly chainHash: string
}

/** The root before the first round. */
export const noRoot = "0".repeat(64)

/** The root of a round, over the one before and what it sealed, in the order of the tenants' ids. */
export const root = (before: string, leaves: ReadonlyArray<Leaf>): string =>
  hash(
    "sha256",
    before +
      leaves
        .map(({ balanceCents, chainHash, tenantId, totalEntries }) =>
          [tenantId, totalEntries, balanceCents, `${chainHash}\n`].join(" ")
        )
        .join(""),
    "hex"
  )
