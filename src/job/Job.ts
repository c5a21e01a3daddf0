import type { Effect } from "effect"
import type { TenantId } from "../domain/Id.ts"

/** A row that is due: one attempt at the work that it stands for. */
export interface Due {
  /** What it is about, in the words of its kind: an order's id; for a recurring job its own name. */
  readonly key: string
  /** Null: the service's own. */
  readonly tenantId: TenantId | null
  /** 1 for the first. */
  readonly attempt: number
}

/** How often an attempt that failed is repeated: after `firstMs`, then twice as long each time, at most `maxMs`. */
export interface Retry {
  readonly attempts: number
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * A kind of work that is due by a row, and how it is done.
 *
 * The handler may run again after it succeeded (its process died before that was written), so its effect is one
 * transaction that says nothing the second time. What it fails or dies of is a failed attempt.
 */
export interface Job {
  /** Stored with each row: `number_order.activation`. */
  readonly kind: string
  /** Rows of it that run at once in this process. */
  readonly concurrency: number
  /** An attempt that takes longer is interrupted and has failed; its lease outlasts it. */
  readonly timeoutMs: number
  readonly retry: Retry
  /** One row for the whole service that comes back after so long, for ever. Absent: rows that their causes put there. */
  readonly everyMs?: number
  readonly run: (due: Due) => Effect.Effect<unknown, unknown>
}
