/**
 * Shared parts of webhook tests: a database, the real journal, an egress whose Internet is 127.0.0.1, tenants, events.
 */
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Entropy from "../../src/runtime/process/Entropy.ts"
import type { EventType } from "../../src/domain/event/EventCatalogue.ts"
import * as Id from "../../src/domain/Id.ts"
import { Egress } from "../../src/ports/egress/Egress.ts"
import * as NodeEgress from "../../src/ports/egress/node/NodeEgress.ts"
import * as EgressTarget from "../../src/ports/egress/EgressTarget.ts"
import { empty, type EventRow, Journal } from "../../src/runtime/store/journal/Journal.ts"
import * as JournalWriter from "../../src/runtime/store/journal/JournalWriter.ts"
import { Vault } from "../../src/runtime/store/vault/Vault.ts"
import * as Dispatcher from "../../src/webhook/Dispatcher.ts"
import * as Signature from "../../src/webhook/attempt/Signature.ts"
import { authority, eventually } from "../support/network/HttpsReceiver.ts"
import * as SeenEvent from "../support/SeenEvent.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const loopback: EgressTarget.Rules = {
  permits: (address) => address === "127.0.0.1" || EgressTarget.publicOnly.permits(address),
  localNames: false
}

const egress = Layer.effect(
  Egress,
  NodeEgress.make({ rules: loopback, resolve: async () => ["127.0.0.1"], extraAuthorities: authority.cert })
)

export const layer = Layer.mergeAll(
  JournalWriter.layer({ partitions: [0, 1], onLost: () => {} }),
  egress,
  Vault.layer(Redacted.make(new Uint8Array(32).fill(7)))
).pipe(Layer.provideMerge(Entropy.Entropy.layerFixed("webhook")), Layer.provideMerge(TestDatabase.layer))

let made = 0
const next = () => ++made

/** Makes a tenant that is alone: waiting deliveries of earlier tests are removed. */
export const tenant = Effect.fnUntraced(function* (
  failover?: { readonly url: string; readonly secret: string },
  home = 0
) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const id = Id.deriveUuid("webhook test", "tenant", next())
  yield* sql`DELETE FROM webhook_delivery`
  const secret = failover === undefined ? null : vault.seal(failover.secret)
  yield* sql`
    INSERT INTO tenant (id, name, slug, status, partition, webhook_failover_url, webhook_failover_secret, created_at,
      updated_at)
    VALUES (${id}, 'T', ${id}, 'active', ${home}, ${failover?.url ?? null}, ${secret}, now(), now())`
  return id
})

/** Writes a subscription directly into its table; gives id and secret. */
export const subscribe = Effect.fnUntraced(function* (
  tenantId: Id.TenantId,
  targetUrl: string,
  eventTypes: ReadonlyArray<string> = ["*"],
  connectionId: Id.RouteId | null = null
) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const id = Id.derive("webhook test", "sub", next())
  const secret = Signature.secretOf(Buffer.alloc(32, next()))
  yield* sql`
    INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, connection_id, signing_secret, is_active, created_at)
    VALUES (${id}, ${tenantId}, ${targetUrl}, ${eventTypes}::text[], ${connectionId}, ${vault.seal(secret)}, true, now())`
  return { id, secret }
})

/** Writes many at once, as a version without a limit of subscriptions could leave them; each has a separate path. */
export const subscribeMany = Effect.fnUntraced(function* (tenantId: Id.TenantId, count: number, url: string) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const series = next()
  yield* sql`
    INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
    SELECT 'svc_sub_' || md5(${series}::text || '-' || n), ${tenantId}, ${url} || '/' || n, '{*}', ${vault.seal("whsec_many")}, true,
      now()
    FROM generate_series(1, ${count}) AS n`
})

export const call = () => Id.derive("webhook test", "call", next())
export const conference = () => Id.derive("webhook test", "conf", next())

export const event = (
  tenantId: Id.TenantId,
  entityId: Id.EntityId,
  sequence: number,
  type: EventType = "call.started",
  data: Readonly<Record<string, unknown>> = { call_id: entityId, customer_reference: "Zoë 📞" },
  lane: string = entityId
): EventRow => {
  const id = Id.deriveUuid(entityId, "event", sequence)
  const body = SeenEvent.bodyOf(type, { event_id: id, sequence }, data)
  return { id, tenantId, entityId, lane, sequence, type, routeId: null, occurredAt: 1_767_225_600_000, body }
}

export const commit = (...events: ReadonlyArray<EventRow>) =>
  Effect.flatMap(Journal, (journal) => journal.commit({ ...empty, events }))

/** Starts a dispatcher that runs until the scope closes, looks for due rows often and retries soon. */
export const dispatch = (options: Partial<Dispatcher.Options> = {}) =>
  Layer.build(
    Dispatcher.layer({
      version: "0.0.0",
      disable: () => Effect.void,
      disableAfterDays: 5,
      pollMs: 20,
      delaysMs: [30, 30, 30, 30, 30, 30],
      ...options
    })
  )

interface Row {
  readonly id: string
  readonly event_id: string
  readonly subscription_id: string | null
  readonly destination: string
  readonly status: string
  readonly attempt_no: number
  readonly response_status_code: number | null
  readonly response_body_snippet: string | null
  readonly error_message: string | null
  readonly due: boolean
  readonly retries: boolean
  readonly sent: boolean
}

export const rows = Effect.fnUntraced(function* (tenantId: Id.TenantId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Row>`
    SELECT id::text AS id, event_id::text AS event_id, subscription_id, destination, status, attempt_no, response_status_code,
      response_body_snippet, error_message, due_at IS NOT NULL AS due, next_retry_at IS NOT NULL AS retries,
      sent_at IS NOT NULL AS sent
    FROM webhook_delivery WHERE tenant_id = ${tenantId} ORDER BY ordinal`.withoutTransform
})

/** Gives the tenant's delivery rows once `holds` is true of them. */
export const rowsWhen = (tenantId: Id.TenantId, holds: (rows: ReadonlyArray<Row>) => boolean) =>
  Effect.gen(function* () {
    let seen = yield* rows(tenantId)
    const look = Effect.tap(rows(tenantId), (now) => Effect.sync(() => (seen = now)))
    yield* look.pipe(
      Effect.delay("10 millis"),
      Effect.repeat({ until: (now) => holds(now) }),
      Effect.timeoutOption(5_000)
    )
    return yield* eventually(
      () => holds(seen),
      () => seen
    )
  })

export const finished = (seen: ReadonlyArray<Row>): boolean => seen.length > 0 && seen.every(({ due }) => !due)
