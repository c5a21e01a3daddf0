import type { ServerResponse } from "node:http"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { EventId } from "../../src/domain/Id.ts"
import * as ClaimedDeliveries from "../../src/runtime/store/journal/ClaimedDeliveries.ts"
import { empty, type EventRow, Journal } from "../../src/runtime/store/journal/Journal.ts"
import { Vault } from "../../src/runtime/store/vault/Vault.ts"
import * as HttpsReceiver from "../support/network/HttpsReceiver.ts"
import * as World from "./WebhookWorld.ts"

/** A dispatcher that offers the deliveries that the test chooses, and records the ones that it gets. */
const listening = Effect.fnUntraced(function* (
  offered: (events: ReadonlyArray<ClaimedDeliveries.Happened>) => ReadonlyArray<EventId>,
  closed: ReadonlyArray<string> = []
) {
  const journal = yield* Journal
  const told: Array<ClaimedDeliveries.Made> = []
  yield* journal.onDeliveries({
    offer: (events) => ({ events: new Set(offered(events)), closed }),
    made: (made) => void told.push(made)
  })
  return {
    handed: () => told.flatMap(({ handed }) => handed),
    waiting: () => told.flatMap(({ endpoints }) => endpoints.map(({ endpoint }) => endpoint))
  }
})

const all = (events: ReadonlyArray<ClaimedDeliveries.Happened>) => events.map(({ id }) => id)
const standing = (rows: ReadonlyArray<{ readonly status: string; readonly attempt_no: number }>) =>
  rows.map(({ attempt_no, status }) => [status, attempt_no])

/** True when the delivery's row has not been updated since the commit that made it. */
const versions = Effect.fnUntraced(function* (event: EventRow) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly same: boolean }>`
    SELECT d.xmin = e.xmin AS same FROM webhook_delivery d JOIN event e ON e.id = d.event_id WHERE e.id = ${event.id}`
  return row?.same
})

layer(World.layer, { timeout: "60 seconds", excludeTestServices: true })("what a commit hands over", (it) => {
  it.effect("is what was offered: born claimed, with URL, secret and body", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { handed, waiting } = yield* listening(all)
      const tenantId = yield* World.tenant()
      const { id, secret } = yield* World.subscribe(tenantId, "https://hook.example/a")
      const event = World.event(tenantId, World.call(), 1)
      yield* World.commit(event)
      const [row] = yield* World.rows(tenantId)
      expect(
        handed().map(({ sealedSecret, ...rest }) => ({ ...rest, secret: vault.open(sealedSecret) }))
      ).toStrictEqual([
        {
          id: row?.id,
          tenantId,
          partition: 0,
          endpoint: id,
          eventId: event.id,
          lane: event.entityId,
          body: event.body,
          targetUrl: "https://hook.example/a",
          isFailing: false,
          secret
        }
      ])
      expect(waiting()).toStrictEqual([])
      expect(row).toMatchObject({ status: "sending", attempt_no: 1, due: true })
    })
  )

  it.effect("is nothing that was not offered, of an endpoint that is closed, or behind another in its lane", () =>
    Effect.gen(function* () {
      const tenantId = yield* World.tenant()
      const open = yield* World.subscribe(tenantId, "https://hook.example/open")
      const closed = yield* World.subscribe(tenantId, "https://hook.example/closed")
      const [one, other] = [World.call(), World.call()]
      const events = [World.event(tenantId, one, 1), World.event(tenantId, other, 1), World.event(tenantId, one, 2)]
      const offered = new Set(events.slice(0, 1).map(({ id }) => id))
      const { handed, waiting } = yield* listening((now) => all(now).filter((id) => offered.has(id)), [closed.id])
      yield* World.commit(...events.slice(0, 2))
      yield* Effect.yieldNow
      expect(handed().map(({ endpoint, eventId }) => [endpoint, eventId])).toStrictEqual([[open.id, events[0]?.id]])
      expect(new Set(waiting())).toStrictEqual(new Set([open.id, closed.id]))
      // The first delivery of the call is still under way.
      for (const { id } of events) offered.add(id)
      yield* World.commit(...events.slice(2))
      yield* Effect.yieldNow
      expect(handed().length).toBe(1)
    })
  )

  it.effect("is nothing of a commit within a transaction, which may yet be undone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const { handed } = yield* listening(all)
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, "https://hook.example/")
      const events = [World.event(tenantId, World.call(), 1)]
      yield* sql.withTransaction(journal.commitWithin({ ...empty, events }))
      expect(handed()).toStrictEqual([])
      expect(standing(yield* World.rows(tenantId))).toStrictEqual([["queued", 0]])
    })
  )

  it.effect("goes to the failover URL, too, when nobody wants the event", () =>
    Effect.gen(function* () {
      const { handed } = yield* listening(all)
      const tenantId = yield* World.tenant({ url: "https://hook.example/failover", secret: "whsec_failover" })
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* Effect.yieldNow
      expect(handed().map(({ endpoint, targetUrl }) => [endpoint, targetUrl])).toStrictEqual([
        [`failover:${tenantId}`, "https://hook.example/failover"]
      ])
    })
  )

  it.effect("comes back with its lease when it got lost on the way: the same attempt, and then those behind it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* listening(all)
      const receiver = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      const callId = World.call()
      // The deliveries that are handed over are not begun: the process dies here, or the answer of its commit is lost.
      yield* World.commit(World.event(tenantId, callId, 1))
      yield* World.commit(World.event(tenantId, callId, 2))
      expect(standing(yield* World.rows(tenantId))).toStrictEqual([
        ["sending", 1],
        ["queued", 0]
      ])
      const [lease] = yield* sql<{ readonly ms: number }>`
        SELECT (extract(epoch FROM due_at - created_at) * 1000)::int AS ms FROM webhook_delivery
        WHERE tenant_id = ${tenantId} AND status = 'sending'`
      expect(lease?.ms).toBe(ClaimedDeliveries.leaseMs)
      yield* World.dispatch()
      const requests = yield* receiver.arrived(2)
      expect(requests.map(({ body }) => JSON.parse(body).sequence)).toStrictEqual([1, 2])
      expect(standing(yield* World.rowsWhen(tenantId, World.finished))).toStrictEqual([
        ["succeeded", 1],
        ["succeeded", 1]
      ])
    })
  )

  it.effect("begins without a claim, and without another look at what is due", () =>
    Effect.gen(function* () {
      const held: Array<ServerResponse> = []
      const receiver = yield* HttpsReceiver.start((_, response) => void held.push(response))
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch({ pollMs: 60_000 })
      const events = [1, 2].map(() => World.event(tenantId, World.call(), 1))
      for (const event of events) yield* World.commit(event)
      yield* receiver.arrived(2)
      // The row is as its commit wrote it.
      for (const event of events) expect(yield* versions(event)).toBe(true)
      for (const response of held) response.end()
      yield* World.rowsWhen(tenantId, World.finished)
    })
  )
})
