import { Clock, Context, Effect, Layer, Result } from "effect"
import { Entropy } from "../runtime/process/Entropy.ts"
import type { EventType } from "../domain/event/EventCatalogue.ts"
import * as Id from "../domain/Id.ts"
import { ApiError } from "../domain/ApiError.ts"
import { Egress } from "../ports/egress/Egress.ts"
import { type Rendered, sealedReceipt, type Slot } from "../runtime/idempotency/Slot.ts"
import { empty, Journal } from "../runtime/store/journal/Journal.ts"
import { Jobs } from "../runtime/job/Jobs.ts"
import type * as Listing from "../runtime/store/list/Listing.ts"
import * as Sql from "../runtime/store/Sql.ts"
import { Vault } from "../runtime/store/vault/Vault.ts"
import * as Redelivery from "./subscription/Redelivery.ts"
import * as Signature from "./attempt/Signature.ts"
import * as SubscriptionChange from "./subscription/SubscriptionChange.ts"
import * as SubscriptionRequest from "./subscription/SubscriptionRequest.ts"
import * as WebhookRepo from "./subscription/WebhookRepo.ts"
import * as WebhookView from "./subscription/WebhookView.ts"

export * as DeliveryAttempt from "./attempt/DeliveryAttempt.ts"
export * as RetryPolicy from "./attempt/RetryPolicy.ts"
export * as Snippet from "./attempt/Snippet.ts"
export * as WebhookView from "./subscription/WebhookView.ts"

/** The caller of an operation: the API key and its tenant. */
interface Caller {
  readonly tenantId: Id.TenantId
  readonly keyId: Id.ApiKeyId
  /** The key's name, for the audit log. */
  readonly name: string
  readonly ip: string | null
}

const noConnection = ApiError.of("not_found", "connection_id names no connection of this workspace", "connection_id")
const tooMany = (limit: number) =>
  ApiError.of("conflict", `this workspace has ${limit} webhook subscriptions, as many as it may`)
const shownOnce = ApiError.of("signing_secret_unavailable", "a signing secret is shown once, when it is made")

const authorOf = ({ ip, keyId, name }: Caller): SubscriptionChange.Author => ({
  actor: { type: "api_key", id: keyId, name },
  ip
})

/** The job that disables all subscriptions of a tenant. Its key is the tenant and the moment, of epoch milliseconds. */
export const disablingAll = "webhook.disabling_all"
const othersMadeIt = "everything that was made before the owner proved the address was ended"

/** Webhook subscriptions and the delivery log, guide/webhooks.md. */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /**
     * 201 with the signing secret; 400 `invalid_target_url`, `event_types_required`; 404 for a foreign connection; 409
     * `conflict` when the tenant has as many as it may.
     */
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
    /** 200. If the subscription becomes inactive, its waiting deliveries fail. */
    readonly update: (
      caller: Caller,
      id: Id.SubscriptionId,
      patch: SubscriptionRequest.SubscriptionPatch,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** 204. The waiting deliveries of the subscription fail; all of its deliveries stay in the log. */
    readonly remove: (caller: Caller, id: Id.SubscriptionId, slot: Slot | null) => Effect.Effect<Rendered, ApiError>
    /**
     * Enables a subscription for a caller other than its tenant; nothing is replayed. An active one stays as it is. 404
     * for an unknown id.
     */
    readonly enable: (
      id: Id.SubscriptionId,
      by: SubscriptionChange.Author
    ) => Effect.Effect<WebhookView.SubscriptionView, ApiError>
    /** Disables a subscription: its waiting deliveries fail with this reason, which the audit line names too. */
    readonly disable: (
      id: Id.SubscriptionId,
      by: SubscriptionChange.Author,
      because: string
    ) => Effect.Effect<WebhookView.SubscriptionView, ApiError>
    /**
     * 202 with the delivery, which is made again; an unfinished one stays as it is. 404; 409 `conflict` when its target
     * no longer exists.
     */
    readonly redeliver: (caller: Caller, id: Id.DeliveryId, slot: Slot | null) => Effect.Effect<Rendered, ApiError>
    /**
     * 202: the deliveries of the range are made again, in portions. 409 while this is under way, or for an inactive
     * subscription.
     */
    readonly redeliverRange: (
      caller: Caller,
      id: Id.SubscriptionId,
      range: Redelivery.Range,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** 202 with the delivery of a `webhook.test`; 409 `conflict` for an inactive subscription. */
    readonly test: (caller: Caller, id: Id.SubscriptionId, slot: Slot | null) => Effect.Effect<Rendered, ApiError>
    /** Makes a delivery again for a caller other than its tenant. */
    readonly resend: (
      id: Id.DeliveryId,
      by: SubscriptionChange.Author
    ) => Effect.Effect<WebhookView.DeliveryView, ApiError>
    /** True when an active subscription of the tenant lists one of these events, or all. */
    readonly wants: (tenantId: Id.TenantId, eventTypes: ReadonlyArray<EventType>) => Effect.Effect<boolean>
    readonly deliveries: (
      tenantId: Id.TenantId,
      filters: WebhookRepo.DeliveryFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<WebhookView.DeliveryView>>
  }
>()("trunkline/webhook/Webhooks") {
  /** `options`: the facts of other features that it needs without depending on them. */
  static readonly layer = (options: {
    readonly ownsConnection: (tenantId: Id.TenantId, routeId: Id.RouteId) => Effect.Effect<boolean>
    /** How many subscriptions a tenant may have, guide/money.md#quota. */
    readonly subscriptionLimit: (tenantId: Id.TenantId) => Effect.Effect<number, ApiError>
  }) =>
    Layer.effect(
      Webhooks,
      Effect.gen(function* () {
        const { transaction } = yield* Sql.make
        const journal = yield* Journal
        const entropy = yield* Entropy
        const vault = yield* Vault
        const egress = yield* Egress
        const repo = yield* WebhookRepo.make
        const jobs = yield* Jobs

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

        const { changing, line, setActive, withdraw } = yield* SubscriptionChange.make(repo)
        jobs.declare({
          kind: disablingAll,
          concurrency: 2,
          timeoutMs: 60_000,
          retry: { attempts: Infinity, firstMs: 1_000, maxMs: 60_000 },
          run: Effect.fnUntraced(function* ({ key }) {
            const [tenantId = "", at] = key.split(" ")
            const system = { actor: { type: "system", id: null, name: null }, ip: null } as const
            for (const id of yield* repo.activeUntil(Id.TenantId.make(tenantId), Number(at)))
              yield* Effect.catchTag(setActive(id, false, system, othersMadeIt), "ApiError", () => Effect.void)
          })
        })
        const redelivery = yield* Redelivery.make(repo, changing)

        const find = (tenantId: Id.TenantId, id: Id.SubscriptionId) =>
          Effect.flatMap(repo.find(tenantId, id), (row) =>
            row === null ? Effect.fail(SubscriptionChange.notFound) : Effect.succeed(WebhookView.subscription(row))
          )

        return Webhooks.of({
          create: Effect.fn("Webhooks.create")(function* (caller, request, slot) {
            const accepted = yield* checked(caller.tenantId, request)
            const limit = yield* options.subscriptionLimit(caller.tenantId)
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
              if ((yield* repo.countForInsert(caller.tenantId, limit)) >= limit) return yield* tooMany(limit)
              yield* repo.insert(caller.tenantId, row, vault.seal(secret))
              yield* journal.commitWithin({
                ...empty,
                audit: [line(caller.tenantId, authorOf(caller), at, "created", row.id)],
                receipt: sealedReceipt(slot, rendered, at, entropy.bytes(12))
              })
            }).pipe(transaction)
            return rendered
          }),
          find,
          update: Effect.fn("Webhooks.update")(function* (caller, id, patch, slot) {
            yield* find(caller.tenantId, id)
            const accepted = yield* checked(caller.tenantId, patch)
            return yield* changing(
              caller.tenantId,
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
                const rendered: Rendered = { status: 200, body: JSON.stringify(WebhookView.subscription(after)) }
                const audit =
                  changes.length > 0 ? [line(caller.tenantId, authorOf(caller), at, "updated", id, changes)] : []
                return { result: rendered, rendered, audit, made }
              })
            )
          }),
          remove: Effect.fn("Webhooks.remove")((caller, id, slot) =>
            changing(
              caller.tenantId,
              id,
              slot,
              Effect.fnUntraced(function* (_row, at) {
                yield* repo.remove(caller.tenantId, id)
                const made = yield* withdraw(caller.tenantId, id, "the subscription was deleted")
                const rendered: Rendered = { status: 204, body: null }
                const audit = [line(caller.tenantId, authorOf(caller), at, "deleted", id)]
                return { result: rendered, rendered, audit, made }
              })
            )
          ),
          enable: (id, by) => Effect.map(setActive(id, true, by, ""), WebhookView.subscription),
          disable: (id, by, because) => Effect.map(setActive(id, false, by, because), WebhookView.subscription),
          redeliver: (caller, id, slot) => redelivery.redeliver(caller.tenantId, id, authorOf(caller), slot),
          redeliverRange: (caller, id, range, slot) =>
            redelivery.redeliverRange(caller.tenantId, id, range, authorOf(caller), slot),
          test: (caller, id, slot) => redelivery.test(caller.tenantId, id, authorOf(caller), slot),
          resend: redelivery.resend,
          secretOf: (tenantId, id) => Effect.andThen(find(tenantId, id), shownOnce),
          list: (tenantId, window) => repo.list(tenantId, window),
          wants: (tenantId, eventTypes) => repo.wants(tenantId, eventTypes),
          deliveries: (tenantId, filters, window) => repo.deliveries(tenantId, filters, window)
        })
      })
    )
}
