import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type * as Id from "../../../src/domain/Id.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import { Webhooks } from "../../../src/webhook/Webhook.ts"
import * as World from "../WebhookWorld.ts"

const live = Webhooks.layer({
  ownsConnection: () => Effect.succeed(false),
  subscriptionLimit: () => Effect.succeed(50)
}).pipe(Layer.provideMerge(Jobs.layer()), Layer.provideMerge(World.layer))

const by = { actor: { type: "system", id: null, name: null }, ip: null } as const

/** Writes this many events that wait for a subscription, every second one for a retry. */
const backlog = Effect.fnUntraced(function* (tenantId: Id.TenantId, id: string, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    WITH happened AS (
      INSERT INTO event (id, tenant_id, partition, entity_id, sequence, type, occurred_at, body)
      SELECT md5(${id} || n)::uuid, ${tenantId}, 0, 'svc_call_' || md5(n::text), 1, 'call.started', now(), '{}'
      FROM generate_series(1, ${count}) AS n RETURNING *
    )
    INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane, sequence,
      status, attempt_no, in_lane, due_at, created_at)
    SELECT id, tenant_id, 0, id, type, ${id}, ${id}, entity_id, 1, 'queued', 0,
      right(id::text, 1) < '8', now(), now()
    FROM happened`
})

const standing = Effect.fnUntraced(function* (tenantId: Id.TenantId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{
    readonly kind: string
    readonly status: string
    readonly because: string | null
    readonly rows: number
  }>`
    SELECT CASE WHEN subscription_id IS NULL THEN 'failover' ELSE 'subscription' END AS kind, status, error_message AS because,
      count(*)::int AS rows
    FROM webhook_delivery WHERE tenant_id = ${tenantId} GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2`
})

layer(live, { timeout: "60 seconds", excludeTestServices: true })(
  "What waits for a subscription that is turned off",
  (it) => {
    it.effect("fails in portions, each event going to the failover; what is made after it is on again stays", () =>
      Effect.gen(function* () {
        const webhooks = yield* Webhooks
        const jobs = yield* Jobs
        const tenantId = yield* World.tenant({ url: "https://127.0.0.1:1/failover", secret: "whsec_failover" })
        const { id } = yield* World.subscribe(tenantId, "https://127.0.0.1:1/")
        yield* backlog(tenantId, id, 2_500)
        yield* webhooks.disable(id, by, "it never answers")
        // The change itself withdraws a limited number.
        expect(yield* standing(tenantId)).toStrictEqual([
          { kind: "subscription", status: "failed", because: "it never answers", rows: 1_000 },
          { kind: "subscription", status: "queued", because: null, rows: 1_500 },
          { kind: "failover", status: "queued", because: null, rows: 1_000 }
        ])
        yield* webhooks.enable(id, by)
        yield* World.commit(World.event(tenantId, World.call(), 1))
        for (let looks = 0; looks < 3; looks++) yield* jobs.poll
        expect(yield* standing(tenantId)).toStrictEqual([
          { kind: "subscription", status: "failed", because: "it never answers", rows: 2_500 },
          { kind: "subscription", status: "queued", because: null, rows: 1 },
          { kind: "failover", status: "queued", because: null, rows: 2_500 }
        ])
      })
    )
  }
)
