import type { TenantId } from "../../../domain/Id.ts"
import type { Carried } from "./TrunkLeg.ts"

/** What usage counts, guide/money.md#usage, by the names of its columns. */
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

/** What usage is told apart by, beside its time. */
export interface Dimensions {
  readonly customer_reference: string | null
  /** The tenant's own number. */
  readonly number: string | null
  /** The country that was called, or a calling code without one. */
  readonly destination: string | null
}

/** What a commit adds to the usage of its tenant, beside what it charges. */
export interface UsageRow {
  readonly tenantId: TenantId
  /** Also of what the commit charges. */
  readonly dimensions: Dimensions
  readonly counted: ReadonlyArray<{
    /** The same cause counts once. */
    readonly id: string
    readonly at: number
    readonly figures: Partial<Readonly<Record<Figure, number>>>
    /** Of a call that ended; null or absent: a trunk carried nothing. */
    readonly carried?: Carried | null
  }>
}

export const noDimensions: Dimensions = { customer_reference: null, number: null, destination: null }
