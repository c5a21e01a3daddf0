import { expect } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ApiKeys } from "../../../src/tenancy/apikey/ApiKey.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import type { Scope } from "../../../src/domain/Scope.ts"
import * as ApiKeyHandlers from "../../../src/edge/http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "../../../src/edge/http/connection/ClientAddress.ts"
import { BaseUrl } from "../../../src/edge/http/answer/BaseUrl.ts"
import { RateLimit } from "../../../src/edge/http/request/RateLimit.ts"
import * as Server from "../../../src/edge/http/Server.ts"
import { Idempotency } from "../../../src/runtime/idempotency/Idempotency.ts"
import { Webhooks } from "../../../src/webhook/Webhook.ts"
import * as TestServer from "../../edge/http/TestServer.ts"
import * as FakeSpeech from "../fake/FakeSpeech.ts"
import * as Features from "./Features.ts"

/** The edge over the real doors of all features but calls, conferences and webhooks, and a database of its own. */
export const layer = Server.layer({ host: "127.0.0.1", port: 0, graceMs: 2_000 }).pipe(
  Layer.provide([
    Layer.mock(Calls)({}),
    Layer.mock(Conferences)({}),
    Layer.mock(Webhooks)({}),
    ApiKeyHandlers.authenticator,
    Idempotency.layer,
    ClientAddress.layer("none"),
    FakeSpeech.layer,
    RateLimit.layer({ signupPerHour: 50 }),
    Layer.succeed(BaseUrl, "https://api.example.com")
  ]),
  Layer.provideMerge(Features.layer)
)

export const ask = (method: string, path: string, asked: TestServer.Asked = {}) =>
  Effect.flatMap(Server.Listening, ({ port }) =>
    Effect.promise(() => TestServer.send(port, method, path, { key: null, ...asked }))
  )

export const refusal = (method: string, path: string, asked: TestServer.Asked) =>
  Effect.map(ask(method, path, asked), (answer) => [answer.status, TestServer.codeOf(answer)])

/** The body of a 200. */
export const read = <Body>(key: string, path: string): Effect.Effect<Body, never, Server.Listening> =>
  Effect.map(ask("GET", path, { key }), (answer) => {
    expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, answer.text.slice(0, 200)])
    return answer.json as Body
  })

/** Another key of the caller's tenant, which may do less. */
export const keyWith = (caller: Features.NewTenant["caller"], scopes: ReadonlyArray<Scope>) =>
  Effect.gen(function* () {
    const rendered = yield* (yield* ApiKeys).create(caller, { name: "less", scopes, expiresAtMs: null }, null)
    return (JSON.parse(rendered.body ?? "") as { readonly api_key_plaintext: string }).api_key_plaintext
  })
