/** Public number-order events, spec §6.4 and decision 2.2. A partly filled order sends both, each naming its numbers. */
interface OfOrder {
  readonly order_id: string
  readonly status: "completed" | "partial" | "failed"
  readonly country_code: string
  readonly number_type: string
  readonly phone_numbers: ReadonlyArray<{
    readonly id: string | null
    readonly phone_number: string
    readonly status: string
  }>
  readonly total_cents: number
}

export type NumberOrderFailure = "not_available" | "carrier_rejected" | "requirements_missing" | "timeout"

export type NumberOrderEvent =
  | { readonly type: "number_order.completed"; readonly data: OfOrder & { readonly completed_at: string } }
  | {
      readonly type: "number_order.failed"
      readonly data: OfOrder & {
        readonly failure_reason: NumberOrderFailure
        readonly refunded_cents: number
        readonly failed_at: string
      }
    }
