import type { TenantId } from "../../../domain/Id.ts"
import type { Commit, MoneyRow } from "../journal/Journal.ts"
import type { Carried } from "./TrunkLeg.ts"
import * as UsageRow from "./UsageRow.ts"

/** The figures of one cause, at one moment (epoch milliseconds). Figures of zero are left out. */
type Entry = { readonly id: string; readonly at: number } & UsageRow.Dimensions &
  Partial<Readonly<Record<UsageRow.Figure, number>>> & { readonly carried?: Carried }

/** True for the types of ledger entries that are charges. The others bring money, or take it back. */
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

/** Figures of one tenant that wait to be added to the sums. */
interface Waiting {
  readonly tenantId: TenantId
  readonly entries: ReadonlyArray<Entry>
}

/** The figures that a commit adds to usage: its own counts, and each charge when it is debited. */
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
