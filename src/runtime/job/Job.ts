import type { Effect } from "effect"
import type { TenantId } from "../../domain/Id.ts"

/** One attempt at the work of a row that is due. */
export interface Due {
  /** The name of the work within its kind, such as the id of an order; for a recurring job its own name. */
  readonly key: string
  /** Null: the work is the service's own. */
  readonly tenantId: TenantId | null
  /** 1 for the first. */
  readonly attempt: number
}

/** How often a failed attempt is repeated: after `firstMs`, then twice as long each time, at most `maxMs`. */
export interface Retry {
  readonly attempts: number
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * A kind of work that is due by a row, and how it is done.
 *
 * The handler may run again after it succeeded, when its process died before the success was written. So its effect is
 * one transaction that changes nothing the second time. An attempt has failed when the handler fails or dies.
 */
export interface Job {
  /** Stored with each row, such as `number_order.activation`. */
  readonly kind: string
  /** How many of its rows run at once in this process. */
  readonly concurrency: number
  /** An attempt that takes longer is interrupted and has failed. The lease lasts longer than this. */
  readonly timeoutMs: number
  readonly retry: Retry
  /**
   * The period of a recurring job, which has one row for the whole service. Absent: the causes of the work put the
   * rows.
   */
  readonly everyMs?: number
  readonly run: (due: Due) => Effect.Effect<unknown, unknown>
}
