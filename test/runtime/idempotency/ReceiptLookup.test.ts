import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as Monotonic from "../../../src/domain/time/Monotonic.ts"
import * as ReceiptLookup from "../../../src/runtime/idempotency/ReceiptLookup.ts"
import * as Slot from "../../../src/runtime/idempotency/Slot.ts"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import * as RowConversion from "../../../src/runtime/store/postgres/RowConversion.ts"
import * as TcpProxy from "../../support/network/TcpProxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const slot = (idempotencyKey: string) =>
  Slot.make({
    owner: "key-1",
    credential: "c",
    idempotencyKey,
    method: "POST",
    path: "/v1/calls",
    body: Buffer.from("{}")
  })

layer(Layer.empty, { excludeTestServices: true, timeout: "60 seconds" })("Looking receipts up", (it) => {
  // Giving a statement up takes the client five seconds more, because it asks the silent server to cancel it.
  it.effect("who waits for a database that is silent is told so when its time is up", () =>
    Effect.gen(function* () {
      const url = new URL(Redacted.value(yield* TestDatabase.migrated))
      yield* Effect.provide(Migrations.run, PgClient.layer({ url: Redacted.make(url.href) }))
      const proxy = yield* TcpProxy.make({ host: url.hostname, port: Number(url.port) })
      url.port = String(proxy.port)
      const client = yield* Layer.build(
        PgClient.layer({ ...RowConversion.settings, url: Redacted.make(url.href), maxConnections: 4 })
      )
      const find = yield* Effect.provide(ReceiptLookup.make(300), client)
      expect(yield* find(slot("before"))).toBeNull()
      proxy.swallowAnswers()
      const began = yield* Monotonic.now
      const code = (key: string) => Effect.map(Effect.flip(find(slot(key))), (refused) => refused.code)
      expect(yield* Effect.all([code("one"), code("two")], { concurrency: 2 })).toEqual([
        "service_unavailable",
        "service_unavailable"
      ])
      expect(yield* code("three")).toBe("service_unavailable")
      expect((yield* Monotonic.now) - began).toBeLessThan(1_500)
      proxy.cut()
    }).pipe(Effect.scoped)
  )
})
