import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../runtime/idempotency/Slot.ts"
import type { WebhookEndpointRef } from "../../runtime/store/journal/ClaimedDeliveries.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { type AuditRow, empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type * as WebhookRepo from "./WebhookRepo.ts"
import type { SubscriptionRow } from "./WebhookView.ts"
import * as Withdrawal from "./Withdrawal.ts"

export const notFound = ApiError.of("subscription_not_found", "no such webhook subscription")

/** The author of a change of a subscription, with the address if it is known. */
export interface Author {
  readonly actor: AuditRow["actor"]
  readonly ip: string | null
}

/** The result of a change, and the rows that are stored with it. */
interface Changed<A> {
  readonly result: A
  readonly audit: ReadonlyArray<AuditRow>
  /** The answer that the receipt keeps. */
  readonly rendered: Rendered | null
  readonly made: ReadonlyArray<WebhookEndpointRef>
}

/** Changes a subscription: each change is one transaction under the lock of its row, with its audit lines. */
export const make = Effect.fnUntraced(function* (repo: WebhookRepo.WebhookRepo) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const withdraw = yield* Withdrawal.make

  const line = (
    tenantId: Id.TenantId,
    by: Author,
    at: number,
    action: string,
    resourceId: Id.SubscriptionId,
    changes: AuditRow["changes"] = []
  ): AuditRow => ({
    id: Id.deriveUuid(entropy.hex(16), "audit"),
    tenantId,
    at,
    actor: by.actor,
    action: `webhook_subscription.${action}`,
    resourceType: "webhook_subscription",
    resourceId,
    changes,
    ip: by.ip
  })

  /** Runs the change under the lock of the row, then wakes the endpoints that got work from it. 404 without a row. */
  const changing = Effect.fnUntraced(function* <A, E>(
    tenantId: Id.TenantId,
    id: Id.SubscriptionId,
    slot: Slot | null,
    change: (row: SubscriptionRow, at: number) => Effect.Effect<Changed<A>, E>
  ) {
    const at = yield* Clock.currentTimeMillis
    const { made, result } = yield* Effect.gen(function* () {
      const row = yield* repo.findForUpdate(tenantId, id)
      if (row === null) return yield* notFound
      const changed = yield* change(row, at)
      yield* journal.commitWithin({
        ...empty,
        audit: changed.audit,
        receipt: changed.rendered === null ? null : receipt(slot, changed.rendered, at)
      })
      return changed
    }).pipe(transaction)
    yield* journal.wake(made)
    return result
  })

  /**
   * Enables or disables a subscription for a caller other than its tenant. The waiting deliveries of a disabled one
   * fail with the reason; an enabled one has no failures counted. Setting the present state again changes nothing.
   */
  const setActive = Effect.fnUntraced(function* (
    id: Id.SubscriptionId,
    isActive: boolean,
    by: Author,
    because: string
  ) {
    const tenantId = yield* repo.tenantOf(id)
    if (tenantId === null) return yield* notFound
    return yield* changing(
      tenantId,
      id,
      null,
      Effect.fnUntraced(function* (before, at) {
        const after = { ...before, isActive }
        if (before.isActive === isActive) return { result: before, rendered: null, audit: [], made: [] }
        yield* repo.update(tenantId, after)
        const made = isActive ? [] : yield* withdraw(tenantId, id, because)
        const changes = [{ field: "is_active", from: before.isActive, to: isActive }]
        const reasoned = isActive ? changes : [...changes, { field: "reason", from: null, to: because }]
        const audit = [line(tenantId, by, at, isActive ? "enabled" : "disabled", id, reasoned)]
        return { result: after, rendered: null, audit, made }
      })
    )
  })

  return { line, withdraw, changing, setActive }
})
