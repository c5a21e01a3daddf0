import type { TenantId } from "../../../domain/Id.ts"
import type { Carried } from "./TrunkLeg.ts"

/** The figures of usage, guide/money.md#usage, by the names of their columns. */
export const figures = [
  "outbound_calls",
  "inbound_calls",
  "answered_calls",
  "call_seconds",
  "billed_minutes",
  "recording_minutes",
  "transcription_minutes",
  "conference_participant_minutes",
  "amd_checks",
  "lookups",
  "cost_cents"
] as const
export type Figure = (typeof figures)[number]

/** The dimensions by which usage is distinguished, beside its time. */
export interface Dimensions {
  readonly customer_reference: string | null
  /** The tenant's own number. */
  readonly number: string | null
  /** The called country, or a calling code without one. */
  readonly destination: string | null
}

/** The usage that a commit adds for its tenant, beside the charges. */
export interface UsageRow {
  readonly tenantId: TenantId
  /** The dimensions, which are also those of the commit's charges. */
  readonly dimensions: Dimensions
  readonly counted: ReadonlyArray<{
    /** The cause. The same cause counts once. */
    readonly id: string
    readonly at: number
    readonly figures: Partial<Readonly<Record<Figure, number>>>
    /** The legs of an ended call; null or absent: a trunk carried nothing. */
    readonly carried?: Carried | null
  }>
}

export const noDimensions: Dimensions = { customer_reference: null, number: null, destination: null }
