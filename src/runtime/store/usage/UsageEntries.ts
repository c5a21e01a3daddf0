import type { TenantId } from "../../../domain/Id.ts"
import type { Commit, MoneyRow } from "../journal/Journal.ts"
import type { Carried } from "./TrunkLeg.ts"
import * as UsageRow from "./UsageRow.ts"

/** Figures of one cause, at one moment (epoch milliseconds). Those of zero are left out. */
export type Entry = { readonly id: string; readonly at: number } & UsageRow.Dimensions &
  Partial<Readonly<Record<UsageRow.Figure, number>>> & { readonly carried?: Carried }

/** Whether an entry of the ledger is what something costs. The other types bring money, or take back what was brought. */
export const isCharge: Readonly<Record<MoneyRow["type"], boolean>> = {
  topup: false,
  auto_recharge: false,
  call_charge: true,
  recording_charge: true,
  transcription_charge: true,
  amd_charge: true,
  conference_charge: true,
  number_order: true,
  number_renewal: true,
  lookup_charge: true,
  plan_fee: true,
  refund: false,
  adjustment: false
}

/** What waits for its place in the sums, of one tenant. */
interface Waiting {
  readonly tenantId: TenantId
  readonly entries: ReadonlyArray<Entry>
}

/** What a commit adds to usage: what it counts, and each charge when it is debited. */
export const of = ({ money, usage }: Pick<Commit, "money" | "usage">): ReadonlyArray<Waiting> => {
  const charges = money.filter(({ amountCents, type }) => isCharge[type] && amountCents < 0)
  if (usage === null && charges.length === 0) return []
  const counted = (usage?.counted ?? []).map(({ at, carried = null, figures, id }) => ({
    id,
    at,
    ...usage?.dimensions,
    ...figures,
    ...(carried === null ? {} : { carried })
  }))
  const tenants = new Set([...(usage === null ? [] : [usage.tenantId]), ...charges.map(({ tenantId }) => tenantId)])
  return [...tenants].map((tenantId) => {
    const isOwn = usage?.tenantId === tenantId
    const dimensions = isOwn ? usage.dimensions : UsageRow.noDimensions
    const debited = charges
      .filter((charge) => charge.tenantId === tenantId)
      .map(({ amountCents, at, id }): Entry => ({ id, at, ...dimensions, cost_cents: -amountCents }))
    return { tenantId, entries: [...(isOwn ? (counted as ReadonlyArray<Entry>) : []), ...debited] }
  })
}
