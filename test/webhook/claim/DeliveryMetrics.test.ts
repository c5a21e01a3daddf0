import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import type { TenantId } from "../../../src/domain/Id.ts"
import * as DeliveryMetrics from "../../../src/webhook/claim/DeliveryMetrics.ts"
import type * as DueStatement from "../../../src/webhook/claim/DueStatement.ts"
import * as OwnMetrics from "../../support/OwnMetrics.ts"
import * as World from "../WebhookWorld.ts"

/** The values of `webhook_deliveries_waiting`, by tenant. */
const waiting = Effect.map(Metric.snapshot, (metrics) =>
  Object.fromEntries(
    metrics.flatMap((metric) =>
      metric.id === "webhook_deliveries_waiting" && metric.type === "Gauge"
        ? [[metric.attributes?.["tenant"], Number(metric.state.value)]]
        : []
    )
  )
)

layer(Layer.provideMerge(World.layer, OwnMetrics.layer), { timeout: "60 seconds", excludeTestServices: true })(
  "metrics of deliveries",
  (it) => {
    it.effect("name the few tenants whose deliveries have been due for longest, and what waits of them", () =>
      Effect.gen(function* () {
        const show = yield* DeliveryMetrics.make
        const tenants: Array<TenantId> = []
        for (let index = 0; index < 7; index++) {
          const tenantId = yield* World.tenant()
          tenants.push(tenantId)
          yield* World.subscribe(tenantId, "https://hook.example/")
        }
        for (const [index, tenantId] of tenants.entries())
          yield* World.commit(...Array.from({ length: index + 1 }, () => World.event(tenantId, World.call(), 1)))
        const due = tenants.map((tenantId, index): DueStatement.Due => {
          return { partition: 0, tenantId, endpoint: "x", dueForMs: 9_000 - index }
        })
        yield* show({ live: 0, underWay: 0, claimed: 0, due })
        expect(yield* waiting).toStrictEqual(
          Object.fromEntries(tenants.slice(0, 5).map((id, index) => [id, index + 1]))
        )
        yield* show({ live: 0, underWay: 0, claimed: 0, due: due.slice(6) })
        const [last] = tenants.slice(6)
        const after = yield* waiting
        expect(after[last ?? ""]).toBe(7)
        for (const id of tenants.slice(0, 5)) expect(after[id]).toBe(0)
      })
    )
  }
)
