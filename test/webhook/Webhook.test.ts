import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentTransformer } from "effect/sql/Statement"
import * as Id from "../../src/domain/Id.ts"
import type { CallId } from "../../src/domain/Id.ts"
import type { EventType } from "../../src/domain/event/EventCatalogue.ts"
import type { ApiError } from "../../src/domain/ApiError.ts"
import * as Slot from "../../src/runtime/idempotency/Slot.ts"
import { Jobs } from "../../src/runtime/job/Jobs.ts"
import { Vault } from "../../src/runtime/store/vault/Vault.ts"
import type { SubscriptionRequest } from "../../src/webhook/subscription/SubscriptionRequest.ts"
import { Webhooks } from "../../src/webhook/Webhook.ts"
import * as HttpsReceiver from "../support/network/HttpsReceiver.ts"
import * as Ids from "../support/Ids.ts"
import * as World from "./WebhookWorld.ts"

const ownConnection = Id.derive("webhook test", "route")

const live = Webhooks.layer({
  ownsConnection: (_tenantId, routeId) => Effect.succeed(routeId === ownConnection),
  subscriptionLimit: () => Effect.succeed(3)
}).pipe(Layer.provide(Jobs.layer()), Layer.provideMerge(World.layer))

const callerOf = (tenantId: Id.TenantId) => ({
  tenantId,
  keyId: Ids.apiKey("00000000-0000-4000-8000-000000000001"),
  member: null,
  name: "Default",
  ip: "192.0.2.1"
})

const request: Omit<SubscriptionRequest, "isActive"> = {
  targetUrl: "https://hook.example/a",
  eventTypes: ["call.started"],
  description: null,
  connectionId: null
}

const anyWindow = { limit: 20, offset: 0 }

const created = Effect.fnUntraced(function* (tenantId: Id.TenantId, more: Partial<typeof request> = {}) {
  const webhooks = yield* Webhooks
  const rendered = yield* webhooks.create(callerOf(tenantId), { ...request, ...more }, null)
  return JSON.parse(rendered.body ?? "") as { readonly id: Id.SubscriptionId; readonly signing_secret: string }
})

const codeOf = <A, R>(effect: Effect.Effect<A, ApiError, R>) => Effect.map(Effect.flip(effect), ({ code }) => code)

const slotOf = (idempotencyKey: string) =>
  Slot.make({
    owner: "owner",
    credential: "svc_live_x",
    idempotencyKey,
    method: "POST",
    path: "/v1/webhook-subscriptions",
    body: new Uint8Array()
  })

layer(live, { timeout: "60 seconds", excludeTestServices: true })("webhook subscriptions", (it) => {
  it.effect("are created with a secret that is shown once and sealed at rest", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant()
      const rendered = yield* webhooks.create(callerOf(tenantId), { ...request, description: "mine" }, null)
      expect(rendered.status).toBe(201)
      const { created_at, id, signing_secret, ...rest } = JSON.parse(rendered.body ?? "")
      expect(id).toMatch(/^svc_sub_[0-9a-f]{32}$/)
      expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
      expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(rest).toStrictEqual({
        target_url: "https://hook.example/a",
        event_types: ["call.started"],
        description: "mine",
        connection_id: null,
        is_active: true
      })
      expect(yield* webhooks.find(tenantId, id)).toStrictEqual({ id, created_at, ...rest })
      const [row] = yield* sql<{ readonly signing_secret: string }>`
        SELECT signing_secret FROM webhook_subscription WHERE id = ${id}`.withoutTransform
      expect(row?.signing_secret).not.toContain(signing_secret)
      expect((yield* Vault).open(row?.signing_secret ?? "")).toBe(signing_secret)
    })
  )

  it.effect("put the receipt into the same transaction, sealed because of the secret", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant()
      const slot = slotOf("once")
      const rendered = yield* webhooks.create(callerOf(tenantId), request, slot)
      const [stored] = yield* sql<{ readonly status: number; readonly body: string; readonly sealed: boolean }>`
        SELECT status, body, sealed FROM idempotency WHERE key = ${slot.key}`
      expect.assert(stored !== undefined)
      expect(stored.body).not.toContain("whsec_")
      expect(Slot.open(slot, stored)).toStrictEqual(rendered)
    })
  )

  it.effect("refuse bad targets, no event types, unknown ones, and connections of others", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const tenantId = yield* World.tenant()
      const refusal = (more: object) => codeOf(webhooks.create(callerOf(tenantId), { ...request, ...more }, null))
      for (const targetUrl of [
        "http://hook.example",
        "https://u:p@hook.example",
        "https://10.0.0.1/",
        "https://localhost/",
        "x"
      ])
        expect(yield* refusal({ targetUrl }), targetUrl).toBe("invalid_target_url")
      expect(yield* refusal({ eventTypes: [] })).toBe("event_types_required")
      expect(yield* refusal({ eventTypes: ["call.exploded"] })).toBe("invalid_request")
      expect(yield* refusal({ connectionId: Id.derive("other", "route") })).toBe("not_found")
      expect((yield* webhooks.list(tenantId, anyWindow)).count).toBe(0)
      yield* created(tenantId, { connectionId: ownConnection })
    })
  )

  it.effect("are as many as the tenant may have, also when ten are created at once; the next is a conflict", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const tenantId = yield* World.tenant()
      const create = webhooks.create(callerOf(tenantId), request, null)
      const outcomes = yield* Effect.all(
        Array.from({ length: 10 }, () =>
          Effect.match(create, { onSuccess: () => "created", onFailure: ({ code }) => code })
        ),
        { concurrency: "unbounded" }
      )
      expect(outcomes.toSorted()).toStrictEqual([
        ...Array.from({ length: 7 }, () => "conflict"),
        ...Array.from({ length: 3 }, () => "created")
      ])
      const { results } = yield* webhooks.list(tenantId, anyWindow)
      expect(results.length).toBe(3)
      for (const { id } of results.slice(0, 1)) yield* webhooks.remove(callerOf(tenantId), id, null)
      yield* create
      expect(yield* codeOf(create)).toBe("conflict")
    })
  )

  it.effect("of a tenant that had more before the limit stay as they are, and no more come", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const tenantId = yield* World.tenant()
      for (let index = 0; index < 5; index++) yield* World.subscribe(tenantId, "https://hook.example/")
      const { results } = yield* webhooks.list(tenantId, anyWindow)
      expect(results.length).toBe(5)
      expect(yield* codeOf(webhooks.create(callerOf(tenantId), request, null))).toBe("conflict")
      const [first] = results
      expect.assert(first !== undefined)
      const patched = yield* webhooks.update(callerOf(tenantId), first.id, { description: "kept" }, null)
      expect(patched.status).toBe(200)
    })
  )

  it.effect("are disabled and enabled by others than their tenant, with an audit line that says why", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant({ url: "https://failover.example/", secret: "whsec_failover" })
      const { id } = yield* created(tenantId)
      yield* World.commit(World.event(tenantId, World.call(), 1))
      const by = { actor: { type: "operator", id: null, name: null } as const, ip: null }
      yield* sql`UPDATE webhook_subscription SET failing_since = now(), failed_attempts = 7 WHERE id = ${id}`
      for (let twice = 0; twice < 2; twice++)
        expect((yield* webhooks.disable(id, by, "it is broken")).is_active).toBe(false)
      expect(
        (yield* World.rows(tenantId)).map((row) => [row.destination, row.status, row.error_message])
      ).toStrictEqual([
        [id, "failed", "it is broken"],
        [`failover:${tenantId}`, "queued", null]
      ])
      for (let twice = 0; twice < 2; twice++) expect((yield* webhooks.enable(id, by)).is_active).toBe(true)
      expect((yield* webhooks.find(tenantId, id)).is_active).toBe(true)
      expect((yield* World.rows(tenantId)).length).toBe(2)
      const lines = yield* sql<{ readonly action: string; readonly actor_type: string; readonly changes: unknown }>`
        SELECT action, actor_type, changes FROM audit WHERE resource_id = ${id} ORDER BY ordinal`.withoutTransform
      expect(lines.slice(1)).toStrictEqual([
        {
          action: "webhook_subscription.disabled",
          actor_type: "operator",
          changes: [
            { field: "is_active", from: true, to: false },
            { field: "reason", from: null, to: "it is broken" }
          ]
        },
        {
          action: "webhook_subscription.enabled",
          actor_type: "operator",
          changes: [{ field: "is_active", from: false, to: true }]
        }
      ])
      expect(
        yield* sql`SELECT failing_since, failed_attempts FROM webhook_subscription WHERE id = ${id}`.withoutTransform
      ).toStrictEqual([{ failing_since: null, failed_attempts: 0 }])
      const unknown = Id.derive("nobody's", "sub")
      expect(yield* codeOf(webhooks.disable(unknown, by, "x"))).toBe("subscription_not_found")
      expect(yield* codeOf(webhooks.enable(unknown, by))).toBe("subscription_not_found")
    })
  )

  it.effect("never show the secret again, and say why", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const tenantId = yield* World.tenant()
      const { id } = yield* created(tenantId)
      expect(yield* codeOf(webhooks.secretOf(tenantId, id))).toBe("signing_secret_unavailable")
      expect(yield* codeOf(webhooks.secretOf(tenantId, Id.derive("no", "sub")))).toBe("subscription_not_found")
    })
  )

  it.effect("do not exist for another tenant", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const owner = yield* World.tenant()
      const other = yield* World.tenant()
      const { id } = yield* created(owner)
      const caller = callerOf(other)
      for (const attempt of [
        webhooks.find(other, id),
        webhooks.secretOf(other, id),
        webhooks.update(caller, id, { isActive: false }, null),
        webhooks.remove(caller, id, null)
      ])
        expect(yield* codeOf<unknown, never>(attempt)).toBe("subscription_not_found")
      expect((yield* webhooks.list(other, anyWindow)).count).toBe(0)
      expect((yield* webhooks.find(owner, id)).is_active).toBe(true)
    })
  )

  it.effect("are listed newest first, a window at a time", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const tenantId = yield* World.tenant()
      const ids: Array<string> = []
      for (let index = 0; index < 3; index++) {
        ids.unshift((yield* created(tenantId)).id)
        yield* Effect.sleep("2 millis")
      }
      const page = yield* webhooks.list(tenantId, { limit: 2, offset: 1 })
      expect(page.count).toBe(3)
      expect(page.results.map(({ id }) => id)).toStrictEqual(ids.slice(1))
    })
  )

  it.effect("change only what a patch gives, with an audit line of old and new", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant()
      const { id } = yield* created(tenantId)
      const before = yield* webhooks.find(tenantId, id)
      const rendered = yield* webhooks.update(callerOf(tenantId), id, { eventTypes: ["*", "call.ended"] }, null)
      expect(rendered.status).toBe(200)
      expect(JSON.parse(rendered.body ?? "")).toStrictEqual({ ...before, event_types: ["*"] })
      expect(yield* webhooks.find(tenantId, id)).toStrictEqual({ ...before, event_types: ["*"] })
      yield* webhooks.update(callerOf(tenantId), id, {}, null)
      expect(yield* codeOf(webhooks.update(callerOf(tenantId), id, { targetUrl: "http://x.example" }, null))).toBe(
        "invalid_target_url"
      )
      const lines = yield* sql<{ readonly action: string; readonly changes: unknown }>`
        SELECT action, changes FROM audit WHERE resource_id = ${id} ORDER BY ordinal`
      expect(lines).toStrictEqual([
        { action: "webhook_subscription.created", changes: [] },
        {
          action: "webhook_subscription.updated",
          changes: [{ field: "event_types", from: ["call.started"], to: ["*"] }]
        }
      ])
    })
  )

  it.effect("fail what waits for them when deactivated or deleted, which then goes to the failover URL", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const failover = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant({ url: failover.url(), secret: "whsec_f" })
      const first = yield* created(tenantId)
      const second = yield* created(tenantId)
      yield* World.commit(World.event(tenantId, World.call(), 1))
      const gone = yield* webhooks.remove(callerOf(tenantId), first.id, null)
      expect(gone).toStrictEqual({ status: 204, body: null })
      expect(yield* codeOf(webhooks.find(tenantId, first.id))).toBe("subscription_not_found")
      expect((yield* World.rows(tenantId)).length).toBe(2)

      yield* webhooks.update(callerOf(tenantId), second.id, { isActive: false }, null)
      const seen = yield* World.rows(tenantId)
      expect(
        seen.map(({ due, error_message, status, subscription_id }) => [subscription_id, status, due, error_message])
      ).toStrictEqual([
        [first.id, "failed", false, "the subscription was deleted"],
        [second.id, "failed", false, "the subscription was deactivated"],
        [null, "queued", true, null]
      ])
      yield* World.dispatch()
      yield* failover.arrived(1)
    })
  )

  it.effect("get the events of their types and their connection only", () =>
    Effect.gen(function* () {
      const tenantId = yield* World.tenant()
      const typed = yield* World.subscribe(tenantId, "https://hook.example", ["call.ended"])
      const routed = yield* World.subscribe(tenantId, "https://hook.example", ["*"], ownConnection)
      const everything = yield* World.subscribe(tenantId, "https://hook.example")
      const callId = World.call()
      yield* World.commit(
        { ...World.event(tenantId, callId, 1, "call.started"), routeId: ownConnection },
        { ...World.event(tenantId, callId, 2, "call.ended"), routeId: Id.derive("other", "route") },
        World.event(tenantId, callId, 3, "number_order.completed")
      )
      const seen = yield* World.rows(tenantId)
      const sequencesOf = (id: string) =>
        seen
          .filter(({ subscription_id }) => subscription_id === id)
          .map(({ event_id }) => [1, 2, 3].find((n) => Id.deriveUuid(callId, "event", n) === event_id))
      expect([typed, routed, everything].map(({ id }) => sequencesOf(id))).toStrictEqual([[2], [1], [1, 2, 3]])
    })
  )

  it.effect("want what an active one of the tenant names, or all of them", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const [tenantId, other] = [yield* World.tenant(), yield* World.tenant()]
      const wanted = (...types: ReadonlyArray<EventType>) => webhooks.wants(tenantId, types)
      const speaking = ["conference.member_speaking_started", "conference.member_speaking_ended"] as const
      expect(yield* wanted(...speaking)).toBe(false)
      yield* created(tenantId, { eventTypes: ["call.started", "conference.started"] })
      yield* created(other, { eventTypes: ["*"] })
      expect(yield* wanted(...speaking)).toBe(false)
      expect(yield* wanted("conference.started")).toBe(true)
      const { id } = yield* created(tenantId, { eventTypes: [speaking[1]] })
      expect(yield* wanted(...speaking)).toBe(true)
      expect(yield* wanted(speaking[0])).toBe(false)
      yield* webhooks.update(callerOf(tenantId), id, { isActive: false }, null)
      expect(yield* wanted(...speaking)).toBe(false)
      yield* created(tenantId, { eventTypes: ["*"] })
      expect(yield* wanted(...speaking)).toBe(true)
      expect(yield* wanted()).toBe(true)
    })
  )
})

layer(live, { timeout: "60 seconds", excludeTestServices: true })("the delivery log", (it) => {
  it.effect("shows the fields of a delivery that was never tried", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const tenantId = yield* World.tenant()
      const { id } = yield* World.subscribe(tenantId, "https://hook.example")
      const event = World.event(tenantId, World.call(), 1)
      yield* World.commit(event)
      const { count, results } = yield* webhooks.deliveries(tenantId, {}, anyWindow)
      expect(count).toBe(1)
      const { created_at, id: deliveryId, ...rest } = results[0] ?? expect.unreachable("no row")
      expect(deliveryId).toMatch(/^[0-9a-f]{8}-/)
      expect(created_at).toMatch(/Z$/)
      expect(rest).toStrictEqual({
        subscription_id: id,
        event_id: event.id,
        event_type: "call.started",
        attempt_no: 0,
        status: "queued",
        response_status_code: null,
        response_body_snippet: null,
        error_message: null,
        sent_at: null,
        next_retry_at: null
      })
    })
  )

  it.effect("filters by subscription, status, type, call and time, newest first, within the tenant", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const sql = yield* SqlClient.SqlClient
      const other = yield* World.tenant()
      const tenantId = yield* World.tenant()
      const one = yield* World.subscribe(tenantId, "https://hook.example", ["call.started"])
      const two = yield* World.subscribe(tenantId, "https://hook.example", ["call.ended"])
      const callId = World.call()
      yield* World.commit(World.event(tenantId, callId, 1, "call.started"))
      yield* World.commit(World.event(tenantId, callId, 2, "call.ended"))
      yield* sql`UPDATE webhook_delivery SET created_at = '2026-01-01T00:00:00.0005Z', status = 'failed'
        WHERE subscription_id = ${one.id}`
      const found = (filters: Parameters<typeof webhooks.deliveries>[1]) =>
        Effect.map(webhooks.deliveries(tenantId, filters, anyWindow), ({ results }) =>
          results.map(({ subscription_id }) => subscription_id)
        )
      const newYear = Date.UTC(2026, 0, 1)
      expect(yield* found({})).toStrictEqual([two.id, one.id])
      expect(yield* found({ subscriptionId: one.id })).toStrictEqual([one.id])
      expect(yield* found({ status: "failed" })).toStrictEqual([one.id])
      expect(yield* found({ eventType: "call.ended" })).toStrictEqual([two.id])
      const elsewhere = World.call()
      yield* World.commit(World.event(tenantId, elsewhere, 1, "call.started"))
      expect(yield* found({ callId })).toStrictEqual([two.id, one.id])
      expect(yield* found({ callId: elsewhere })).toStrictEqual([one.id])
      expect(yield* found({ callId, eventType: "call.ended" })).toStrictEqual([two.id])
      expect(yield* found({ callId: World.call() })).toStrictEqual([])
      expect((yield* webhooks.deliveries(other, { callId }, anyWindow)).count).toBe(0)
      yield* sql`DELETE FROM webhook_delivery WHERE event_id = (SELECT id FROM event WHERE entity_id = ${elsewhere})`
      expect(yield* found({ createdAfterMs: newYear })).toStrictEqual([two.id])
      expect(yield* found({ createdAfterMs: newYear - 1 })).toStrictEqual([two.id, one.id])
      expect(yield* found({ subscriptionId: one.id, status: "queued" })).toStrictEqual([])
      expect((yield* webhooks.deliveries(other, { subscriptionId: one.id }, anyWindow)).count).toBe(0)
    })
  )

  it.effect("finds by a call the events of its conferences that name it, and no others of them", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const tenantId = yield* World.tenant()
      const other = yield* World.tenant()
      yield* World.subscribe(tenantId, "https://hook.example")
      yield* World.subscribe(other, "https://hook.example")
      const [host, guest] = [World.call(), World.call()]
      const [room, second, foreign] = [World.conference(), World.conference(), World.conference()]
      const ofRoom = (sequence: number, type: EventType, data: Readonly<Record<string, unknown>>) =>
        World.event(tenantId, room, sequence, type, data)
      yield* World.commit(
        ofRoom(1, "conference.started", { name: `{"call_id":"${guest}"}`, call_id: host, host_call_id: host }),
        ofRoom(2, "conference.member_joined", { call_id: host }),
        ofRoom(3, "conference.member_joined", { call_id: guest }),
        ofRoom(4, "conference.member_left", { call_id: guest }),
        ofRoom(5, "recording.completed", { call_id: host }),
        ofRoom(6, "conference.ended", { call_id: host })
      )
      yield* World.commit(
        World.event(tenantId, second, 1, "conference.started", { host_call_id: null }),
        World.event(tenantId, second, 2, "conference.member_joined", { call_id: guest }),
        World.event(other, foreign, 1, "conference.member_joined", { call_id: guest }),
        World.event(tenantId, guest, 1, "call.ended")
      )
      const typesOf = (callId: CallId, eventType?: EventType) =>
        Effect.map(
          webhooks.deliveries(tenantId, { callId, ...(eventType === undefined ? {} : { eventType }) }, anyWindow),
          ({ count, results }) => [count, results.map(({ event_type }) => event_type).toSorted()]
        )
      const [ended, joined, left, started] = [
        "conference.ended",
        "conference.member_joined",
        "conference.member_left",
        "conference.started"
      ] as const
      expect(yield* typesOf(host)).toStrictEqual([4, [ended, joined, started, "recording.completed"]])
      expect(yield* typesOf(guest)).toStrictEqual([4, ["call.ended", joined, joined, left]])
      expect(yield* typesOf(guest, joined)).toStrictEqual([2, [joined, joined]])
    })
  )

  it.effect("reads no more events of a room than name the call, however many others it has", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant()
      const callId = World.call()
      const room = World.conference()
      yield* sql`
        INSERT INTO event (id, tenant_id, partition, entity_id, sequence, type, occurred_at, body)
        SELECT gen_random_uuid(), ${tenantId}, 0, ${room}, n, 'conference.member_muted', now(),
          json_build_object('data', json_build_object('call_id', 'svc_call_' || md5(n::text)))
        FROM generate_series(1, 20000) AS n`
      yield* World.subscribe(tenantId, "https://hook.example")
      yield* World.commit(World.event(tenantId, room, 20_001, "conference.member_joined", { call_id: callId }))
      yield* sql`ANALYZE event`
      const plans: Array<Plan> = []
      const webhooks = yield* Webhooks
      yield* Effect.provideService(
        webhooks.deliveries(tenantId, { callId }, anyWindow),
        CurrentTransformer,
        (statement) =>
          Effect.gen(function* () {
            const [text, parameters] = statement.compile()
            const [explained] = yield* Effect.orDie(
              sql.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
                `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
                parameters
              )
            )
            plans.push(...(explained?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodes(Plan)))
            return statement
          }).pipe(Effect.provideService(CurrentTransformer, undefined))
      )
      const ofEvents = plans.filter((node) => node["Relation Name"] === "event")
      expect(ofEvents).not.toHaveLength(0)
      for (const node of ofEvents)
        expect(node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0), JSON.stringify(node)).toBeLessThan(5)
    })
  )
})

/** A node of a plan that EXPLAIN shows. */
interface Plan {
  readonly "Actual Rows": number
  readonly "Rows Removed by Filter"?: number
  readonly "Relation Name"?: string
  readonly Plans?: ReadonlyArray<Plan>
}

const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]
