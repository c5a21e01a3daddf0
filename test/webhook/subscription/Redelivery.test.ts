import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import { Webhooks } from "../../../src/webhook/Webhook.ts"
import * as HttpsReceiver from "../../support/network/HttpsReceiver.ts"
import * as Ids from "../../support/Ids.ts"
import * as World from "../WebhookWorld.ts"

const live = Webhooks.layer({
  ownsConnection: () => Effect.succeed(false),
  subscriptionLimit: () => Effect.succeed(50)
}).pipe(Layer.provideMerge(Jobs.layer()), Layer.provideMerge(World.layer))

const callerOf = (tenantId: Id.TenantId) => ({
  tenantId,
  keyId: Ids.apiKey("00000000-0000-4000-8000-000000000001"),
  member: null,
  name: "Default",
  ip: "192.0.2.1"
})

/** A tenant whose events were delivered to a receiver, or refused by it, as `answer` decides. */
const delivered = Effect.fnUntraced(function* (events: number, answer: () => number) {
  const receiver = yield* HttpsReceiver.start((_, response) => {
    response.statusCode = answer()
    response.end()
  })
  const tenantId = yield* World.tenant()
  const { id } = yield* World.subscribe(tenantId, receiver.url())
  for (let n = 0; n < events; n++) yield* World.commit(World.event(tenantId, World.call(), 1))
  const rows = yield* World.rowsWhen(tenantId, (seen) => seen.length === events && seen.every(({ due }) => !due))
  return { receiver, tenantId, id, rows }
})

const audited = (tenantId: Id.TenantId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly action: string }>`SELECT action FROM audit WHERE tenant_id = ${tenantId} ORDER BY ordinal`,
      (rows) => rows.map(({ action }) => action)
    )
  )

const idOf = ({ id }: { readonly id: string }) => Ids.delivery(id)

layer(live, { timeout: "60 seconds", excludeTestServices: true })("Redelivery", (it) => {
  it.effect("makes one delivery again: the same body, from the first attempt on; one under way stays as it is", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      let status = 400
      yield* World.dispatch()
      const { receiver, rows, tenantId } = yield* delivered(1, () => status)
      expect(rows.map(({ status }) => status)).toStrictEqual(["failed"])
      const [row] = rows
      if (row === undefined) return expect.unreachable("no delivery")
      status = 200
      const answer = yield* webhooks.redeliver(callerOf(tenantId), idOf(row), null)
      expect(answer.status).toBe(202)
      expect(JSON.parse(answer.body ?? "")).toMatchObject({ id: row.id, status: "queued", attempt_no: 0 })
      const [first, second] = yield* receiver.arrived(2)
      expect(second?.body).toBe(first?.body)
      const after = yield* World.rowsWhen(tenantId, (seen) => seen.every(({ due }) => !due))
      expect(after.map(({ attempt_no, id, status }) => [id, status, attempt_no])).toStrictEqual([
        [row.id, "succeeded", 1]
      ])
      expect(yield* audited(tenantId)).toStrictEqual(["webhook_delivery.redelivered"])
    }).pipe(Effect.scoped)
  )

  it.effect("refuses what is another tenant's, unknown, or wanted by nobody any more", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const by = { actor: { type: "operator", id: null, name: null }, ip: null } as const
      const { id, rows, tenantId } = yield* Effect.scoped(
        Effect.andThen(
          World.dispatch(),
          delivered(1, () => 200)
        )
      )
      const [row] = rows
      if (row === undefined) return expect.unreachable("no delivery")
      const stranger = callerOf(Id.deriveUuid("another", "tenant"))
      expect((yield* Effect.flip(webhooks.redeliver(stranger, idOf(row), null))).code).toBe("not_found")
      expect((yield* Effect.flip(webhooks.test(stranger, id, null))).code).toBe("subscription_not_found")
      yield* webhooks.disable(id, by, "test")
      const everything = { createdAfterMs: null, createdBeforeMs: null, status: "succeeded" } as const
      const caller = callerOf(tenantId)
      expect((yield* Effect.flip(webhooks.redeliver(caller, idOf(row), null))).code).toBe("conflict")
      expect((yield* Effect.flip(webhooks.redeliverRange(caller, id, everything, null))).code).toBe("conflict")
      expect((yield* Effect.flip(webhooks.test(caller, id, null))).code).toBe("conflict")
      // Enabling the subscription makes nothing again.
      yield* webhooks.enable(id, by)
      expect((yield* World.rows(tenantId)).map(({ due, status }) => [due, status])).toStrictEqual([
        [false, "succeeded"]
      ])
    })
  )

  it.effect("makes a range again in portions, one at a time, and leaves what is outside of it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* Webhooks
      const jobs = yield* Jobs
      const { id, tenantId } = yield* Effect.scoped(
        Effect.andThen(
          World.dispatch(),
          delivered(3, () => 200)
        )
      )
      const other = yield* World.subscribe(tenantId, "https://hook.example/other")
      const copy = (count: number, to: string, status: string, at: string) => sql`
        INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane,
          sequence, status, created_at)
        SELECT gen_random_uuid(), tenant_id, partition, gen_random_uuid(), event_type, ${to}, ${to}, lane, 1, ${status},
          ${at}::timestamptz
        FROM (SELECT * FROM webhook_delivery WHERE destination = ${id} ORDER BY ordinal LIMIT 1) one, generate_series(1, ${count})`
      yield* copy(700, id, "failed", "2026-03-01T00:00:00Z")
      yield* copy(600, other.id, "failed", "2026-03-01T00:00:00Z")
      yield* copy(700, id, "failed", "2026-03-02T00:00:00Z")
      yield* copy(5, id, "failed", "2026-03-03T00:00:00Z")
      const range = {
        createdAfterMs: Date.UTC(2026, 1, 1),
        createdBeforeMs: Date.UTC(2026, 2, 3),
        status: "failed"
      } as const
      const answer = yield* webhooks.redeliverRange(callerOf(tenantId), id, range, null)
      expect([answer.status, JSON.parse(answer.body ?? "")]).toStrictEqual([
        202,
        {
          subscription_id: id,
          created_after: "2026-02-01T00:00:00.000Z",
          created_before: "2026-03-03T00:00:00.000Z",
          status: "failed"
        }
      ])
      expect((yield* Effect.flip(webhooks.redeliverRange(callerOf(tenantId), id, range, null))).code).toBe("conflict")
      const waiting = Effect.map(
        sql<{ readonly id: string; readonly n: number }>`
          SELECT destination AS id, count(*)::int AS n FROM webhook_delivery
          WHERE tenant_id = ${tenantId} AND due_at IS NOT NULL GROUP BY 1`,
        (rows) => rows.map((row) => [row.id, row.n])
      )
      // The job looks at the first thousand rows of the tenant, of which 700 are in the range, then at the next
      // thousand.
      yield* jobs.poll
      expect(yield* waiting).toStrictEqual([[id, 700]])
      yield* jobs.poll
      expect(yield* waiting).toStrictEqual([[id, 1397]])
      // More than a thousand retries wait already. Further ones wait until there is a place, and are not lost.
      yield* jobs.poll
      expect(yield* waiting).toStrictEqual([[id, 1397]])
      yield* sql`UPDATE webhook_delivery SET due_at = NULL, status = 'succeeded' WHERE destination = ${id} AND due_at IS NOT NULL`
      yield* jobs.poll
      expect(yield* waiting).toStrictEqual([[id, 3]])
      expect(yield* sql`SELECT FROM webhook_redelivery`).toStrictEqual([])
      expect(yield* sql`SELECT FROM job WHERE kind = 'webhook.redelivery'`).toStrictEqual([])
      yield* sql`UPDATE webhook_delivery SET due_at = NULL, status = 'succeeded' WHERE due_at IS NOT NULL`
      const left = yield* sql`
        SELECT destination AS id, count(*)::int AS n FROM webhook_delivery
        WHERE tenant_id = ${tenantId} AND status = 'failed' GROUP BY 1 ORDER BY 2`
      expect(left).toStrictEqual([
        { id, n: 5 },
        { id: other.id, n: 600 }
      ])
    })
  )

  it.effect("sends a test to one subscription alone, whatever it subscribes to", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const receiver = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant()
      const { id } = yield* World.subscribe(tenantId, receiver.url("/one"), ["call.ended"])
      yield* World.subscribe(tenantId, receiver.url("/other"))
      yield* World.dispatch()
      const answer = yield* webhooks.test(callerOf(tenantId), id, null)
      const shown = JSON.parse(answer.body ?? "") as Record<string, unknown>
      expect(shown).toMatchObject({ subscription_id: id, event_type: "webhook.test", status: "queued" })
      const [request] = yield* receiver.arrived(1)
      expect(request?.path).toBe("/one")
      expect(JSON.parse(request?.body ?? "")).toMatchObject({
        event_id: shown["event_id"],
        event_type: "webhook.test",
        sequence: 1,
        data: { subscription_id: id }
      })
      const rows = yield* World.rowsWhen(tenantId, (seen) => seen.every(({ due }) => !due))
      expect(rows.map(({ status, subscription_id }) => [status, subscription_id])).toStrictEqual([["succeeded", id]])
      expect(yield* audited(tenantId)).toStrictEqual(["webhook_subscription.tested"])
    }).pipe(Effect.scoped)
  )

  it.effect("of a range begins anew when the job of the one before has failed for good", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* Webhooks
      const jobs = yield* Jobs
      const { id, tenantId } = yield* Effect.scoped(
        Effect.andThen(
          World.dispatch(),
          delivered(2, () => 200)
        )
      )
      const range = { createdAfterMs: null, createdBeforeMs: null, status: "succeeded" } as const
      const again = webhooks.redeliverRange(callerOf(tenantId), id, range, null)
      yield* again
      // The job is as it would be after the last of its attempts, two portions on.
      yield* sql`UPDATE job SET due_at = NULL, failed_at = now() WHERE kind = 'webhook.redelivery' AND starts_with(key, ${id})`
      yield* sql`UPDATE webhook_redelivery SET portions = 2, position = 1000000 WHERE subscription_id = ${id}`
      expect((yield* again).status).toBe(202)
      expect((yield* Effect.flip(again)).code).toBe("conflict")
      yield* jobs.poll
      expect((yield* World.rows(tenantId)).map(({ status }) => status)).toStrictEqual(["queued", "queued"])
      expect((yield* jobs.failed(10)).filter(({ tenantId: of }) => of === tenantId)).toStrictEqual([])
      expect((yield* again).status).toBe(202)
    })
  )
})
