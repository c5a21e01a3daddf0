import { expect, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type * as Id from "../../../src/domain/Id.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import { disablingAll, Webhooks } from "../../../src/webhook/Webhook.ts"
import * as Ids from "../../support/Ids.ts"
import * as World from "../WebhookWorld.ts"

const live = Webhooks.layer({
  ownsConnection: () => Effect.succeed(false),
  subscriptionLimit: () => Effect.succeed(10)
}).pipe(Layer.provideMerge(Jobs.layer()), Layer.provideMerge(World.layer))

const created = Effect.fnUntraced(function* (tenantId: Id.TenantId) {
  const caller = { tenantId, keyId: Ids.apiKey("00000000-0000-4000-8000-000000000001"), name: "Default", ip: null }
  const request = { targetUrl: "https://hook.example/a", eventTypes: ["*"], description: null, connectionId: null }
  const rendered = yield* (yield* Webhooks).create(caller, request, null)
  return (JSON.parse(rendered.body ?? "") as { readonly id: Id.SubscriptionId }).id
})

layer(live, { timeout: "60 seconds", excludeTestServices: true })("the end of earlier access", (it) => {
  it.effect(
    "disables the tenant's subscriptions of before, and no others (guide/authentication.md#earlier-access)",
    () =>
      Effect.gen(function* () {
        const webhooks = yield* Webhooks
        const jobs = yield* Jobs
        const sql = yield* SqlClient.SqlClient
        const [tenantId, other] = [yield* World.tenant(), yield* World.tenant()]
        const before = [yield* created(tenantId), yield* created(tenantId)]
        const foreign = yield* created(other)
        const at = yield* Clock.currentTimeMillis
        const after = yield* created(tenantId)
        yield* sql`UPDATE webhook_subscription SET created_at = created_at + interval '1 second' WHERE id = ${after}`
        yield* sql.withTransaction(jobs.enqueue({ kind: disablingAll, key: `${tenantId} ${at}`, tenantId }))
        yield* jobs.poll
        const isActive = (of: Id.TenantId, id: Id.SubscriptionId) =>
          Effect.map(webhooks.find(of, id), ({ is_active }) => is_active)
        for (const id of before) expect(yield* isActive(tenantId, id)).toBe(false)
        expect([yield* isActive(tenantId, after), yield* isActive(other, foreign)]).toEqual([true, true])
        const lines = yield* sql`
        SELECT actor_type FROM audit WHERE tenant_id = ${tenantId} AND action = 'webhook_subscription.disabled'`
        expect(lines).toEqual([{ actorType: "system" }, { actorType: "system" }])
      })
  )
})
