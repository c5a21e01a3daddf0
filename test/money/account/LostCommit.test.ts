import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, References } from "effect"
import { Accounts } from "../../../src/money/account/Account.ts"
import { ApiKeys } from "../../../src/tenancy/apikey/ApiKey.ts"
import * as Features from "../../support/service/Features.ts"
import * as TcpProxy from "../../support/network/TcpProxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const operator = { type: "operator", name: "test" } as const

describe("What is in memory after the answer to a COMMIT was lost", () => {
  it.live(
    "a tenant that was closed is closed for whoever asks next",
    () =>
      Effect.gen(function* () {
        const url = new URL(Redacted.value(yield* TestDatabase.migrated))
        const proxy = yield* TcpProxy.make({ host: url.hostname, port: Number(url.port) })
        url.port = String(proxy.port)
        const context = yield* Layer.build(
          Features.started.pipe(Layer.provideMerge(TestDatabase.processLayer(Redacted.make(url.href))))
        )
        yield* Effect.gen(function* () {
          const accounts = yield* Accounts
          const keys = yield* ApiKeys
          const { id } = yield* Features.newTenant()
          expect(yield* keys.tenantStatus(id)).toBe("active")
          // The work left by the signup is finished, so the next COMMIT is that of the closing.
          yield* Effect.sleep("1 second")
          proxy.lose({ text: "COMMIT", arrives: true, by: "cut" })
          yield* accounts.close(id, operator)
          expect(proxy.losses()).toBe(1)
          expect((yield* accounts.overview(id)).status).toBe("closed")
          expect(yield* keys.tenantStatus(id)).toBe("closed")
        }).pipe(Effect.provide(context))
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
    { timeout: 60_000 }
  )
})
