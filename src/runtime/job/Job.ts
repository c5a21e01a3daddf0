import type { Effect } from "effect"
import type { TenantId } from "../../domain/Id.ts"

/** A row that is due: one attempt at the work that it stands for. */
export interface Due {
  /** What it is about, in the words of its kind, such as the id of an order; for a recurring job its own name. */
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
 * The handler may run again after it succeeded, when its process died before that was written. So its effect is one
 * transaction that changes nothing the second time. An attempt has failed when the handler fails or dies.
 */
export interface Job {
  /** Stored with each row: `number_order.activation`. */
  readonly kind: string
  /** Rows of it that run at once in this process. */
  readonly concurrency: number
  /** An attempt that takes longer is interrupted and has failed. Its lease lasts longer than that. */
  readonly timeoutMs: number
  readonly retry: Retry
  /** One row for the whole service comes back after so long, for ever. Absent: the causes put the rows. */
  readonly everyMs?: number
  readonly run: (due: Due) => Effect.Effect<unknown, unknown>
}
