import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import type { SubscriptionId } from "../../../src/domain/Id.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import { Webhooks } from "../../../src/webhook/Webhook.ts"
import * as HttpsReceiver from "../../support/network/HttpsReceiver.ts"
import * as World from "../WebhookWorld.ts"

const live = Webhooks.layer({
  ownsConnection: () => Effect.succeed(false),
  subscriptionLimit: () => Effect.succeed(50)
}).pipe(Layer.provide(Jobs.layer()), Layer.provideMerge(World.layer))

const failures = Effect.fnUntraced(function* (id: SubscriptionId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly attempts: number; readonly failing: boolean; readonly active: boolean }>`
    SELECT failed_attempts AS attempts, failing_since IS NOT NULL AS failing, is_active AS active
    FROM webhook_subscription WHERE id = ${id}`
  return row
})

const failuresWhen = (id: SubscriptionId, attempts: number) =>
  failures(id).pipe(
    Effect.delay("10 millis"),
    Effect.repeat({ until: (row) => row?.attempts === attempts }),
    Effect.timeout("20 seconds"),
    Effect.orDie
  )

/** Makes a subscription one that has failed `attempts` times over this many days. */
const failed = Effect.fnUntraced(function* (id: SubscriptionId, days: number, attempts: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE webhook_subscription SET failing_since = now() - ${days}::float8 * interval '1 day',
      failed_attempts = ${attempts} WHERE id = ${id}`
})

const disabling = Effect.map(Webhooks, (webhooks) => ({
  disable: (id: SubscriptionId, because: string) =>
    Effect.ignore(webhooks.disable(id, { actor: { type: "system", id: null, name: null }, ip: null }, because))
}))

layer(live, { timeout: "60 seconds", excludeTestServices: true })("an endpoint that fails", (it) => {
  it.effect("is counted from its first failure on, and a success begins anew", () =>
    Effect.gen(function* () {
      let status = 503
      const receiver = yield* HttpsReceiver.start((_, response) => void response.writeHead(status).end())
      const tenantId = yield* World.tenant()
      const { id } = yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch()
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* World.rowsWhen(tenantId, World.finished)
      expect(yield* failuresWhen(id, 7)).toStrictEqual({ attempts: 7, failing: true, active: true })
      status = 200
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* World.rowsWhen(tenantId, (rows) => rows.length === 2 && World.finished(rows))
      expect(yield* failuresWhen(id, 0)).toStrictEqual({ attempts: 0, failing: false, active: true })
    })
  )

  it.effect("delays no event of others while the count of its failures waits for a lock", () => {
    const warnings: Array<unknown> = []
    const logger = Logger.make<unknown, void>(
      ({ logLevel, message }) => void (logLevel === "Warn" && warnings.push(message))
    )
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* HttpsReceiver.start()
      const slow = yield* World.tenant()
      const other = yield* World.tenant()
      const { id } = yield* World.subscribe(slow, receiver.url("/slow"))
      yield* World.subscribe(other, receiver.url("/other"))
      yield* failed(id, 1, 3)
      const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* sql`SELECT FROM webhook_subscription WHERE id = ${id} FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(release)),
        sql.withTransaction,
        Effect.forkScoped
      )
      yield* Deferred.await(locked)
      yield* World.dispatch()
      yield* World.commit(World.event(slow, World.call(), 1))
      yield* World.rowsWhen(slow, World.finished)
      const call = World.call()
      yield* World.commit(World.event(other, call, 1), World.event(other, call, 2))
      yield* receiver.arrived(2, "/other")
      // An outcome that waited for the count would have waited until that was given up, which is logged.
      expect(warnings).toStrictEqual([])
      yield* Deferred.succeed(release, undefined)
      yield* failuresWhen(id, 0)
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([logger])))
  })

  it.effect("for five days, ten times, is disabled by the service: what waits goes to the failover URL", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* HttpsReceiver.start((_, response) => void response.writeHead(500).end())
      const failover = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant({ url: failover.url(), secret: "whsec_failover" })
      const { id } = yield* World.subscribe(tenantId, receiver.url())
      yield* failed(id, 5.5, 9)
      yield* World.dispatch({ ...(yield* disabling), delaysMs: [3_600_000] })
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* failover.arrived(1)
      const rows = yield* World.rowsWhen(tenantId, (now) => now.length === 2 && World.finished(now))
      const because = "the endpoint was disabled: it has failed for 5 days, 10 times in a row"
      expect(rows.map(({ error_message, status }) => [status, error_message])).toStrictEqual([
        ["failed", because],
        ["succeeded", null]
      ])
      expect((yield* failures(id))?.active).toBe(false)
      const lines = yield* sql`SELECT action, actor_type FROM audit WHERE resource_id = ${id}`.withoutTransform
      expect(lines).toStrictEqual([{ action: "webhook_subscription.disabled", actor_type: "system" }])
    })
  )

  it.effect("stays while it has failed too short, too seldom, or the operator wants none disabled", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start((_, response) => void response.writeHead(400).end())
      const attempt = (days: number, attempts: number, disableAfterDays: number | null, staysActive = true) =>
        Effect.gen(function* () {
          const tenantId = yield* World.tenant()
          const { id } = yield* World.subscribe(tenantId, receiver.url())
          yield* failed(id, days, attempts)
          yield* World.dispatch({ ...(yield* disabling), disableAfterDays })
          yield* World.commit(World.event(tenantId, World.call(), 1))
          yield* failuresWhen(id, attempts + 1)
          const active = Effect.map(failures(id), (now) => now?.active)
          yield* active.pipe(
            Effect.delay("50 millis"),
            Effect.repeat({ until: (now) => now === staysActive }),
            Effect.timeoutOption("20 seconds")
          )
          return yield* active
        }).pipe(Effect.scoped)
      expect([yield* attempt(4.9, 50, 5), yield* attempt(6, 8, 5), yield* attempt(60, 50, null)]).toStrictEqual([
        true,
        true,
        true
      ])
      expect(yield* attempt(6, 9, 5, false)).toBe(false)
    })
  )
})
