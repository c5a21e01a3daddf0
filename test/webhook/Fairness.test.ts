import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { EntityId } from "../../src/domain/Id.ts"
import * as HttpsClient from "../../src/ports/egress/node/HttpsClient.ts"
import * as Dispatcher from "../../src/webhook/Dispatcher.ts"
import * as HttpsReceiver from "../support/network/HttpsReceiver.ts"
import * as World from "./WebhookWorld.ts"

const callOf = ({ body }: HttpsReceiver.Received): EntityId => JSON.parse(body).data.call_id

layer(World.layer, { timeout: "60 seconds", excludeTestServices: true })("deliveries of many tenants", (it) => {
  it.effect("go on although thousands of one tenant's wait at a receiver that never answers", () =>
    Effect.gen(function* () {
      const silent = yield* HttpsReceiver.start(() => {})
      const prompt = yield* HttpsReceiver.start()
      const loud = yield* World.tenant()
      const quiet = yield* World.tenant()
      yield* World.subscribeMany(loud, 150, silent.url("/silent"))
      yield* World.subscribe(quiet, prompt.url())
      yield* World.dispatch({ maxUnderWay: 96, maxLive: 128, drainMs: 0 })
      yield* World.commit(...[1, 2, 3].map(() => World.event(loud, World.call(), 1)))
      yield* silent.arrived(40)
      for (let index = 1; index <= 20; index++) {
        yield* World.commit(World.event(quiet, World.call(), 1))
        yield* prompt.arrived(index)
      }
      yield* World.rowsWhen(quiet, World.finished)
      // The loud tenant has at most half of the places that no other tenant takes.
      expect(silent.received.length).toBeLessThanOrEqual(49)
    })
  )

  it("find a connection to a receiver's host, however many of another tenant's hang there", () => {
    expect(HttpsClient.connectionsPerDestination).toBeGreaterThanOrEqual(Dispatcher.defaultMaxUnderWay)
  })

  it.effect("begin in turns: a backlog of one tenant lets another's event pass", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start((_, response) => void setTimeout(() => response.end(), 5))
      const loud = yield* World.tenant()
      const quiet = yield* World.tenant()
      for (let index = 0; index < 4; index++) yield* World.subscribe(loud, receiver.url(`/loud/${index}`))
      yield* World.subscribe(quiet, receiver.url("/quiet"))
      yield* World.commit(...Array.from({ length: 70 }, () => World.event(loud, World.call(), 1)))
      yield* World.dispatch()
      yield* receiver.arrived(20)
      yield* World.commit(World.event(quiet, World.call(), 1))
      yield* receiver.arrived(1, "/quiet")
      expect(receiver.received.length).toBeLessThan(250)
      yield* World.rowsWhen(loud, World.finished)
    })
  )

  it.effect("of one call that wait in a long line at a slow receiver hold up no other call there", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start((_, response) => void setTimeout(() => response.end(), 50))
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      const long = World.call()
      yield* World.commit(...Array.from({ length: 556 }, (_, index) => World.event(tenantId, long, index + 1)))
      const other = World.call()
      // This event comes after all the others and waits before the first look.
      yield* World.commit(World.event(tenantId, other, 1))
      yield* World.dispatch({ drainMs: 0 })
      yield* receiver.arrived(2)
      expect(receiver.received.slice(0, 2).map(callOf).toSorted()).toStrictEqual([long, other].toSorted())
    })
  )

  it.effect("of 80 calls at one receiver come in turns, whatever their ids are", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start((_, response) => void setTimeout(() => response.end(), 2))
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      const calls = Array.from({ length: 80 }, () => World.call())
      for (const sequence of [1, 2, 3]) yield* World.commit(...calls.map((id) => World.event(tenantId, id, sequence)))
      yield* World.dispatch()
      const requests = yield* receiver.arrived(180)
      // Nearly all calls have had their first turn when the first one has had its third.
      const turns = new Map<EntityId, number>()
      for (const request of requests) {
        const turn = (turns.get(callOf(request)) ?? 0) + 1
        turns.set(callOf(request), turn)
        if (turn === 3) break
      }
      expect(turns.size).toBeGreaterThan(70)
      yield* World.rowsWhen(tenantId, (rows) => rows.length === 240 && World.finished(rows))
    })
  )

  it.effect("of a tenant with thousands of endpoints are found, and another's at the first look", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* HttpsReceiver.start()
      const crowded = yield* World.tenant()
      const few = yield* World.tenant()
      yield* World.subscribeMany(crowded, 150, receiver.url("/many"))
      yield* World.subscribe(few, receiver.url("/few"))
      // Retries of the previous version, all due, and more of them than one look reaches.
      yield* sql`
        INSERT INTO event (id, tenant_id, partition, entity_id, sequence, type, occurred_at, body)
        SELECT gen_random_uuid(), tenant_id, 0, 'svc_call_' || md5(id), 1, 'call.started', now(), ${
          World.event(few, World.call(), 1).body
        } FROM webhook_subscription WHERE tenant_id IN (${crowded}, ${few})`
      yield* sql`
        INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane,
          sequence, attempt_no, status, in_lane, due_at, created_at)
        SELECT gen_random_uuid(), s.tenant_id, 0, e.id, e.type, s.id, s.id, e.entity_id, 1, 3, 'queued', false,
          now() - interval '1 hour', now() - interval '1 day'
        FROM webhook_subscription s JOIN event e ON e.entity_id = 'svc_call_' || md5(s.id)
        WHERE s.tenant_id IN (${crowded}, ${few})`
      yield* World.dispatch()
      yield* receiver.arrived(1, "/few")
      expect(receiver.received.length).toBeLessThan(140)
      const rows = yield* World.rowsWhen(crowded, World.finished)
      expect(
        rows.map(({ attempt_no, status }) => `${status} ${attempt_no}`).filter((one) => one !== "succeeded 4")
      ).toEqual([])
    })
  )
})
