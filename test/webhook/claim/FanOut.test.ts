import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../../../src/domain/Id.ts"
import type { WebhookEndpointRef } from "../../../src/runtime/store/journal/ClaimedDeliveries.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import * as FanOut from "../../../src/webhook/claim/FanOut.ts"
import * as OutcomeWriter from "../../../src/webhook/attempt/OutcomeWriter.ts"
import * as HttpsReceiver from "../../support/network/HttpsReceiver.ts"
import * as World from "../WebhookWorld.ts"

const waiting = Effect.fnUntraced(function* (tenantId: TenantId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly eventId: string }>`
    SELECT event_id FROM webhook_fan_out WHERE tenant_id = ${tenantId} ORDER BY ordinal`
  return rows.map(({ eventId }) => eventId)
})

const count = Effect.fnUntraced(function* (tenantId: TenantId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly all: number; readonly different: number }>`
    SELECT count(*)::int AS all, count(DISTINCT (event_id, destination))::int AS different
    FROM webhook_delivery WHERE tenant_id = ${tenantId}`
  return row
})

/** Runs the worker until `holds`; gives the tenants whose deliveries it made, in the order of the portions. */
const spreadUntil = <E, R>(holds: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    const portions: Array<TenantId> = []
    const wake = (made: ReadonlyArray<WebhookEndpointRef>) => {
      const [first] = made
      if (first !== undefined) portions.push(first.tenantId)
    }
    yield* FanOut.make({ wake })
    yield* Effect.repeat(Effect.delay(holds, "5 millis"), { until: (done) => done })
    return portions
  }).pipe(Effect.scoped, Effect.timeout("20 seconds"), Effect.orDie)

const done = (tenantId: TenantId) => Effect.map(waiting(tenantId), (rows) => rows.length === 0)

layer(World.layer, { timeout: "60 seconds", excludeTestServices: true })("the fan-out to many subscriptions", (it) => {
  it.effect("costs a commit one row for each event, and another tenant's event goes on as ever", () =>
    Effect.gen(function* () {
      const crowded = yield* World.tenant()
      const few = yield* World.tenant()
      yield* World.subscribeMany(crowded, 2_000, "https://hook.example")
      yield* World.subscribe(few, "https://hook.example/few")
      const callId = World.call()
      const events = [1, 2, 3].map((sequence) => World.event(crowded, callId, sequence))
      yield* World.commit(...events, World.event(few, World.call(), 1))
      expect(yield* waiting(crowded)).toStrictEqual(events.map(({ id }) => id))
      expect((yield* count(crowded))?.all).toBe(0)
      expect((yield* count(few))?.all).toBe(1)
      yield* spreadUntil(done(crowded))
      expect(yield* count(crowded)).toStrictEqual({ all: 6_000, different: 6_000 })
    })
  )

  it.effect("takes what many events of one batch come to with some subscriptions, so no statement makes hundreds", () =>
    Effect.gen(function* () {
      const tenantId = yield* World.tenant()
      const few = yield* World.tenant()
      yield* World.subscribeMany(tenantId, 50, "https://hook.example")
      yield* World.subscribe(few, "https://hook.example/few")
      yield* World.commit(World.event(tenantId, World.call(), 1))
      expect([yield* waiting(tenantId), (yield* count(tenantId))?.all]).toStrictEqual([[], 50])
      const calls = Array.from({ length: 20 }, () => World.call())
      const events = calls.map((id) => World.event(tenantId, id, 1))
      yield* World.commit(...events, ...Array.from({ length: 20 }, () => World.event(few, World.call(), 1)))
      expect(yield* waiting(tenantId)).toStrictEqual(
        events.toSorted((one, other) => (one.entityId < other.entityId ? -1 : 1)).map(({ id }) => id)
      )
      expect([(yield* count(tenantId))?.all, (yield* count(few))?.all]).toStrictEqual([50, 20])
      yield* spreadUntil(done(tenantId))
      expect(yield* count(tenantId)).toStrictEqual({ all: 1_050, different: 1_050 })
    })
  )

  it.effect("delivers each event once to each subscription, in the order of its call", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant()
      yield* World.subscribeMany(tenantId, 66, receiver.url("/hook"))
      yield* World.dispatch()
      const callId = World.call()
      for (const sequence of [1, 2]) yield* World.commit(World.event(tenantId, callId, sequence))
      yield* Effect.sleep("10 millis").pipe(
        Effect.repeat({ until: () => receiver.received.length >= 132 }),
        Effect.timeout("20 seconds"),
        Effect.orDie
      )
      const requests = yield* receiver.arrived(132)
      const byPath = Map.groupBy(requests, ({ path }) => path)
      expect(byPath.size).toBe(66)
      for (const [path, own] of byPath)
        expect([path, own.map(({ body }) => JSON.parse(body).sequence)]).toStrictEqual([path, [1, 2]])
      yield* World.rowsWhen(tenantId, (rows) => rows.length === 132 && World.finished(rows))
      expect(receiver.received.length).toBe(132)
    })
  )

  it.effect("keeps the order when subscriptions become few while earlier events wait", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant()
      yield* World.subscribeMany(tenantId, 65, "https://hook.example")
      const callId = World.call()
      const events = [1, 2].map((sequence) => World.event(tenantId, callId, sequence))
      for (const event of events) {
        yield* World.commit(event)
        yield* sql`DELETE FROM webhook_subscription WHERE tenant_id = ${tenantId} AND target_url NOT LIKE '%/1'`
      }
      expect(yield* waiting(tenantId)).toStrictEqual(events.map(({ id }) => id))
      yield* spreadUntil(done(tenantId))
      expect((yield* World.rows(tenantId)).map((row) => row.event_id)).toStrictEqual(events.map(({ id }) => id))
      // No event waits any more, so the next event's deliveries are made by its commit.
      yield* World.commit(World.event(tenantId, callId, 3))
      expect([yield* waiting(tenantId), (yield* count(tenantId))?.all]).toStrictEqual([[], 3])
    })
  )

  it.effect("takes tenants in turns: a thousand portions of one delay another's by one", () =>
    Effect.gen(function* () {
      const loud = yield* World.tenant()
      const quiet = yield* World.tenant()
      yield* World.subscribeMany(loud, 1_500, "https://hook.example")
      yield* World.subscribeMany(quiet, 70, "https://hook.example")
      yield* World.commit(...[1, 2].map((sequence) => World.event(loud, World.call(), sequence)))
      yield* World.commit(World.event(quiet, World.call(), 1))
      const portions = yield* spreadUntil(done(quiet))
      expect(portions.indexOf(quiet)).toBeLessThanOrEqual(1)
      expect((yield* waiting(loud)).length).toBe(2)
      yield* spreadUntil(done(loud))
    })
  )

  it.effect("goes on after a crash where it was: nothing is lost, nothing comes twice", () =>
    Effect.gen(function* () {
      const tenantId = yield* World.tenant()
      yield* World.subscribeMany(tenantId, 1_100, "https://hook.example")
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* spreadUntil(Effect.map(count(tenantId), (now) => (now?.all ?? 0) > 0))
      const afterCrash = (yield* count(tenantId))?.all ?? 0
      expect(afterCrash % 128).toBe(0)
      expect((yield* waiting(tenantId)).length).toBe(1)
      yield* spreadUntil(done(tenantId))
      expect(yield* count(tenantId)).toStrictEqual({ all: 1_100, different: 1_100 })
    })
  )

  it.effect("hands an event to the failover URL when nobody wants it, and only when all of it was looked at", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant({ url: "https://hook.example/failover", secret: "whsec_failover" })
      yield* World.subscribeMany(tenantId, 300, "https://hook.example")
      yield* sql`UPDATE webhook_subscription SET event_types = '{call.ended}' WHERE tenant_id = ${tenantId}`
      yield* World.commit(World.event(tenantId, World.call(), 1))
      expect(yield* World.rows(tenantId)).toStrictEqual([])
      yield* spreadUntil(done(tenantId))
      const rows = yield* World.rows(tenantId)
      expect(rows.map(({ subscription_id }) => subscription_id)).toStrictEqual([null])
    })
  )

  it.effect("hands no event to the failover URL while some subscriptions have still to get it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant({ url: "https://hook.example/failover", secret: "whsec_failover" })
      yield* World.subscribeMany(tenantId, 1_100, "https://hook.example")
      const event = World.event(tenantId, World.call(), 1)
      yield* World.commit(event)
      yield* spreadUntil(Effect.map(count(tenantId), (now) => (now?.all ?? 0) > 0))
      yield* sql`UPDATE webhook_delivery SET status = 'failed', due_at = NULL WHERE tenant_id = ${tenantId}`
      expect(yield* sql.withTransaction(OutcomeWriter.failOver(sql, [event.id]))).toStrictEqual([])
      yield* sql`UPDATE webhook_subscription SET is_active = false WHERE tenant_id = ${tenantId}`
      yield* spreadUntil(done(tenantId))
      const rows = yield* World.rows(tenantId)
      expect(rows.filter((row) => row.subscription_id === null).length).toBe(1)
    })
  )

  it.effect("makes one failover delivery when all of many subscriptions fail", () =>
    Effect.gen(function* () {
      const failing = yield* HttpsReceiver.start((_, response) => void response.writeHead(410).end())
      const failover = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant({ url: failover.url("/failover"), secret: "whsec_failover" })
      yield* World.subscribeMany(tenantId, 80, failing.url("/hook"))
      yield* World.dispatch()
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* failover.arrived(1)
      const rows = yield* World.rowsWhen(tenantId, (now) => now.length === 81 && World.finished(now))
      expect(rows.filter(({ status }) => status === "failed").length).toBe(80)
      expect(failover.received.length).toBe(1)
    })
  )

  it.effect("writes nothing in a partition that another process has taken over", () =>
    Effect.gen(function* () {
      const tenantId = yield* World.tenant(undefined, 1)
      yield* World.subscribeMany(tenantId, 65, "https://hook.example")
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* Layer.build(JournalWriter.layer({ partitions: [1], onLost: () => {} }))
      yield* Effect.scoped(Effect.andThen(FanOut.make({ wake: () => {} }), Effect.sleep("100 millis")))
      expect([(yield* waiting(tenantId)).length, (yield* count(tenantId))?.all]).toStrictEqual([1, 0])
    }).pipe(Effect.scoped)
  )
})
