import { Clock, Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Entropy } from "../actor/Entropy.ts"
import * as Id from "../domain/Id.ts"
import { ApiError } from "../domain/ApiError.ts"
import { Egress } from "../egress/Egress.ts"
import { receipt, type Rendered, sealedReceipt, type Slot } from "../idempotency/Slot.ts"
import { type AuditRow, empty, Journal, type WebhookEndpointRef } from "../store/Journal.ts"
import type * as Listing from "../store/Listing.ts"
import { Vault } from "../store/Vault.ts"
import * as DeliveryQueue from "./DeliveryQueue.ts"
import { failOver } from "./OutcomeWriter.ts"
import * as Signature from "./Signature.ts"
import * as SubscriptionRequest from "./SubscriptionRequest.ts"
import * as WebhookRepo from "./WebhookRepo.ts"
import * as WebhookView from "./WebhookView.ts"

/** Who asks: the API key and its tenant. */
interface Caller {
  readonly tenantId: Id.TenantId
  readonly keyId: Id.ApiKeyId
  /** The key's name, for the audit log. */
  readonly name: string
  readonly ip: string | null
}

const notFound = ApiError.of("subscription_not_found", "no such webhook subscription")
const noConnection = ApiError.of("not_found", "connection_id names no connection of this workspace", "connection_id")
const shownOnce = ApiError.of("signing_secret_unavailable", "a signing secret is shown once, when it is made")

/** Webhook subscriptions and the delivery log, guide/webhooks.md. */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** 201 with the signing secret; 400 `invalid_target_url`, `event_types_required`; 404 for a foreign connection. */
    readonly create: (
      caller: Caller,
      request: Omit<SubscriptionRequest.SubscriptionRequest, "isActive">,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    readonly list: (
      tenantId: Id.TenantId,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<WebhookView.SubscriptionView>>
    readonly find: (
      tenantId: Id.TenantId,
      id: Id.SubscriptionId
    ) => Effect.Effect<WebhookView.SubscriptionView, ApiError>
    /** Always fails: 404 `signing_secret_unavailable`, or `subscription_not_found`. */
    readonly secretOf: (tenantId: Id.TenantId, id: Id.SubscriptionId) => Effect.Effect<never, ApiError>
    /** 200. What waits for a subscription that becomes inactive fails. */
    readonly update: (
      caller: Caller,
      id: Id.SubscriptionId,
      patch: SubscriptionRequest.SubscriptionPatch,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** 204. What waits for the subscription fails; its deliveries stay in the log. */
    readonly remove: (caller: Caller, id: Id.SubscriptionId, slot: Slot | null) => Effect.Effect<Rendered, ApiError>
    readonly deliveries: (
      tenantId: Id.TenantId,
      filters: WebhookRepo.DeliveryFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<WebhookView.DeliveryView>>
  }
>()("trunkline/webhook/Webhooks") {
  /** `ownsConnection`: whether the tenant has the connection. This feature opens no other feature's door. */
  static readonly layer = (options: {
    readonly ownsConnection: (tenantId: Id.TenantId, routeId: Id.RouteId) => Effect.Effect<boolean>
  }) =>
    Layer.effect(
      Webhooks,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const entropy = yield* Entropy
        const vault = yield* Vault
        const egress = yield* Egress
        const repo = yield* WebhookRepo.make

        const checked = Effect.fnUntraced(function* <R extends SubscriptionRequest.SubscriptionPatch>(
          tenantId: Id.TenantId,
          request: R
        ) {
          const result = SubscriptionRequest.check(request, egress.refuse)
          if (Result.isFailure(result)) return yield* result.failure
          const { connectionId } = request
          if (connectionId !== undefined && connectionId !== null)
            if (!(yield* options.ownsConnection(tenantId, connectionId))) return yield* noConnection
          return result.success
        })

        const line = (
          caller: Caller,
          at: number,
          action: string,
          resourceId: Id.SubscriptionId,
          changes: AuditRow["changes"] = []
        ): AuditRow => ({
          id: Id.deriveUuid(entropy.hex(16), "audit"),
          tenantId: caller.tenantId,
          at,
          actor: { type: "api_key", id: caller.keyId, name: caller.name },
          action: `webhook_subscription.${action}`,
          resourceType: "webhook_subscription",
          resourceId,
          changes,
          ip: caller.ip
        })

        /** Runs in the transaction that takes the subscription away. */
        const withdraw = Effect.fnUntraced(function* (tenantId: Id.TenantId, id: Id.SubscriptionId, because: string) {
          const failed = yield* sql.unsafe<{ readonly eventId: Id.EventId }>(DeliveryQueue.withdraw, [
            id,
            because,
            tenantId
          ])
          return yield* failOver(
            sql,
            failed.map(({ eventId }) => eventId)
          )
        })

        const create = Effect.fn("Webhooks.create")(function* (
          caller: Caller,
          request: Omit<SubscriptionRequest.SubscriptionRequest, "isActive">,
          slot: Slot | null
        ) {
          const accepted = yield* checked(caller.tenantId, request)
          const at = yield* Clock.currentTimeMillis
          const row: WebhookView.SubscriptionRow = {
            ...accepted,
            id: Id.derive(entropy.hex(16), "sub"),
            isActive: true,
            createdAt: at
          }
          const secret = Signature.secretOf(entropy.bytes(32))
          const body = WebhookView.created({ ...row, signingSecret: secret })
          const rendered: Rendered = { status: 201, body: JSON.stringify(body) }
          yield* Effect.gen(function* () {
            yield* repo.insert(caller.tenantId, row, vault.seal(secret))
            yield* journal.commitWithin({
              ...empty,
              audit: [line(caller, at, "created", row.id)],
              receipt: sealedReceipt(slot, rendered, at, entropy.bytes(12))
            })
          }).pipe(sql.withTransaction, Effect.orDie)
          return rendered
        })

        const find = (tenantId: Id.TenantId, id: Id.SubscriptionId) =>
          Effect.flatMap(Effect.orDie(repo.find(tenantId, id)), (row) =>
            row === null ? Effect.fail(notFound) : Effect.succeed(WebhookView.subscription(row))
          )

        /** Changes a subscription under its lock, and wakes the endpoints that got work from it. */
        const changing = Effect.fnUntraced(function* (
          caller: Caller,
          id: Id.SubscriptionId,
          slot: Slot | null,
          change: (
            row: WebhookView.SubscriptionRow,
            at: number
          ) => Effect.Effect<
            {
              readonly rendered: Rendered
              readonly audit: ReadonlyArray<AuditRow>
              readonly made: ReadonlyArray<WebhookEndpointRef>
            },
            SqlError
          >
        ) {
          const at = yield* Clock.currentTimeMillis
          const { made, rendered } = yield* Effect.gen(function* () {
            const row = yield* repo.findForUpdate(caller.tenantId, id)
            if (row === null) return yield* notFound
            const changed = yield* change(row, at)
            yield* journal.commitWithin({
              ...empty,
              audit: changed.audit,
              receipt: receipt(slot, changed.rendered, at)
            })
            return changed
          }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
          yield* journal.wake(made)
          return rendered
        })

        const update = Effect.fn("Webhooks.update")(function* (
          caller: Caller,
          id: Id.SubscriptionId,
          patch: SubscriptionRequest.SubscriptionPatch,
          slot: Slot | null
        ) {
          yield* find(caller.tenantId, id)
          const accepted = yield* checked(caller.tenantId, patch)
          return yield* changing(
            caller,
            id,
            slot,
            Effect.fnUntraced(function* (before, at) {
              const after = { ...before, ...accepted }
              const changes = SubscriptionRequest.changes(before, after)
              if (changes.length > 0) yield* repo.update(caller.tenantId, after)
              const made =
                before.isActive && !after.isActive
                  ? yield* withdraw(caller.tenantId, id, "the subscription was deactivated")
                  : []
              return {
                rendered: { status: 200, body: JSON.stringify(WebhookView.subscription(after)) },
                audit: changes.length > 0 ? [line(caller, at, "updated", id, changes)] : [],
                made
              }
            })
          )
        })

        const remove = Effect.fn("Webhooks.remove")((caller: Caller, id: Id.SubscriptionId, slot: Slot | null) =>
          changing(
            caller,
            id,
            slot,
            Effect.fnUntraced(function* (_row, at) {
              yield* repo.remove(caller.tenantId, id)
              const made = yield* withdraw(caller.tenantId, id, "the subscription was deleted")
              return { rendered: { status: 204, body: null }, audit: [line(caller, at, "deleted", id)], made }
            })
          )
        )

        return Webhooks.of({
          create,
          find,
          update,
          remove,
          secretOf: (tenantId, id) => Effect.andThen(find(tenantId, id), shownOnce),
          list: (tenantId, window) => Effect.orDie(repo.list(tenantId, window)),
          deliveries: (tenantId, filters, window) => Effect.orDie(repo.deliveries(tenantId, filters, window))
        })
      })
    )
}
