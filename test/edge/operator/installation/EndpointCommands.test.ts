import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../../src/domain/Id.ts"
import { jsonOf, layer as world, operator, signup } from "../OperatorWorld.ts"

const audits = Effect.fn(function* (resourceId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly line: string }>`
    SELECT actor_type || ' ' || action AS line FROM audit WHERE resource_id = ${resourceId} ORDER BY ordinal`
  return rows.map(({ line }) => line)
})

/** A subscription of a new tenant, with one delivery that has failed. */
const endpoint = Effect.fn(function* (slug: string) {
  const sql = yield* SqlClient.SqlClient
  const { tenantId } = yield* signup(slug)
  const id = Id.derive(slug, "sub")
  const delivery = Id.deriveUuid(slug, "event")
  yield* sql`
    INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at,
      failing_since, failed_attempts)
    VALUES (${id}, ${tenantId}, 'https://example.com/hook?token=s3cret', '{*}'::text[], 'sealed', true, now(),
      now() - interval '1 day', 12)`
  yield* sql`
    INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane,
      sequence, attempt_no, status, created_at)
    VALUES (${delivery}, ${tenantId}, 0, ${delivery}, 'call.ended', ${id}, ${id}, 'lane', 1, 7, 'failed', now())`
  return { tenantId, id, delivery }
})

layer(world, { excludeTestServices: true })("endpoints (guide/operation.md#webhook-endpoints)", (it) => {
  it.effect("are listed without what may be secret in their URL, disabled and enabled, with audit lines", () =>
    Effect.gen(function* () {
      const { delivery, id } = yield* endpoint("hooked")
      yield* endpoint("other")
      const listed = jsonOf(yield* operator("endpoint", "list", "--tenant", "hooked", "--failing", "--json"))
      expect(listed["results"]).toMatchObject([
        { id, tenant: "hooked", is_active: true, failed_attempts: 12, target_url: "https://example.com/hook?•••" }
      ])
      expect((yield* operator("endpoint", "list", "--failing")).stdout).not.toContain("s3cret")
      const disabled = yield* operator("endpoint", "disable", id, "--reason", "floods", "--json")
      expect(jsonOf(disabled)).toMatchObject({ id, is_active: false, target_url: "https://example.com/hook?•••" })
      // The subscription is disabled, so the delivery has no receiver.
      const refused = yield* operator("delivery", "resend", delivery)
      expect([refused.code, refused.stderr]).toStrictEqual([1, expect.stringContaining("(conflict)")])
      expect(jsonOf(yield* operator("endpoint", "enable", id, "--json"))).toMatchObject({ is_active: true })
      expect(yield* audits(id)).toStrictEqual([
        "operator webhook_subscription.disabled",
        "operator webhook_subscription.enabled"
      ])
    })
  )

  it.effect("get a delivery again on request of the operator", () =>
    Effect.gen(function* () {
      const { delivery } = yield* endpoint("again")
      const resent = jsonOf(yield* operator("delivery", "resend", delivery, "--json"))
      expect(resent).toMatchObject({ id: delivery, status: "queued", attempt_no: 0 })
      // The delivery is queued already, so nothing changes.
      yield* operator("delivery", "resend", delivery)
      expect(yield* audits(delivery)).toStrictEqual(["operator webhook_delivery.redelivered"])
      const unknown = yield* operator("delivery", "resend", "00000000-0000-4000-8000-000000000000")
      expect([unknown.code, unknown.stderr]).toStrictEqual([1, expect.stringContaining("(not_found)")])
    })
  )
})
