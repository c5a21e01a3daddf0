/**
 * The HTTP surface over the real doors and a database. Mail reaches people, and each request may come from any address.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Calls } from "../../../../src/telephony/call/Call.ts"
import { Conferences } from "../../../../src/telephony/conference/Conference.ts"
import * as ApiKeyHandlers from "../../../../src/edge/http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "../../../../src/edge/http/connection/ClientAddress.ts"
import { BaseUrl } from "../../../../src/edge/http/answer/BaseUrl.ts"
import { RateLimit } from "../../../../src/edge/http/request/RateLimit.ts"
import * as Server from "../../../../src/edge/http/Server.ts"
import { Idempotency } from "../../../../src/runtime/idempotency/Idempotency.ts"
import { Team } from "../../../../src/tenancy/team/Team.ts"
import { Tenants } from "../../../../src/tenancy/tenant/Tenant.ts"
import { Webhooks } from "../../../../src/webhook/Webhook.ts"
import * as FakeSpeech from "../../../support/fake/FakeSpeech.ts"
import * as Features from "../../../support/service/Features.ts"
import * as TestServer from "../TestServer.ts"

export { hashed } from "../../../support/CheapHashing.ts"

export const served = Server.layer({ host: "127.0.0.1", port: 0, graceMs: 2_000 }).pipe(
  Layer.provide([
    Layer.mock(Calls)({}),
    Layer.mock(Conferences)({}),
    Layer.mock(Webhooks)({}),
    ApiKeyHandlers.authenticator,
    Idempotency.layer,
    ClientAddress.layer("private"),
    FakeSpeech.layer,
    RateLimit.layer({ signupPerHour: 5 }),
    Layer.succeed(BaseUrl, "https://api.example.com")
  ]),
  Layer.provideMerge(Features.mailing)
)

let addresses = 0
/** An address that no request has come from. */
export const somewhere = (): string => `198.51.${Math.floor(++addresses / 250)}.${(addresses % 250) + 1}`

export interface Asked extends TestServer.Asked {
  readonly from?: string
}

export const ask = (method: string, path: string, { from = somewhere(), ...asked }: Asked = {}) =>
  Effect.flatMap(Server.Listening, ({ port }) =>
    Effect.promise(() =>
      TestServer.send(port, method, path, {
        key: null,
        ...asked,
        headers: { "x-forwarded-for": from, ...asked.headers }
      })
    )
  )

export const post = (path: string, body: unknown, asked: Asked = {}) => ask("POST", path, { body, ...asked })

/** Waits until so many statements of this database wait for locks. */
export const lockWaits = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  // A transaction sees the activity of its first look, until it clears the snapshot.
  const waiting = Effect.andThen(
    sql`SELECT pg_stat_clear_snapshot()`,
    sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  )
  while ((yield* waiting).length < count) yield* Effect.sleep("5 millis")
})

/** Status and code; the code is null on success. */
export const outcome = (answer: TestServer.Answer) => [answer.status, TestServer.codeOf(answer) ?? null]

let count = 0
export const newEmail = (): string => `kim${++count}@example.com`
export const password = "correct horse battery"

export interface Person {
  readonly id: string
  readonly email: string
  readonly tenantId: string
  /** The key of a login. */
  readonly key: string
}

/** A workspace with its machine's key and its logged-in, verified owner. */
export const workspace = Effect.fnUntraced(function* (name = "Acme") {
  const email = newEmail()
  const body = { email, password, tenant_name: name, first_name: "Ada", last_name: "Lovelace" }
  const { json } = yield* post("/v1/signup", body)
  const made = json as {
    readonly api_key_plaintext: string
    readonly tenant: { readonly id: string }
    readonly user: { readonly id: string }
  }
  yield* Features.lettersSent
  yield* post("/v1/auth/verify-email", { token: Features.tokenFor(email) })
  const owner: Person = { id: made.user.id, email, tenantId: made.tenant.id, key: yield* login(email) }
  return { key: made.api_key_plaintext, tenantId: made.tenant.id, owner }
})

export const login = (email: string, with_ = password) =>
  Effect.map(
    post("/v1/auth/login", { email, password: with_ }),
    ({ json }) => (json as { readonly api_key_plaintext: string }).api_key_plaintext
  )

/** Lines of the audit log with this action: their actor, resource and address. */
export const linesOf = (key: string, action: string) =>
  Effect.map(ask("GET", `/v1/audit?action=${action}`, { key }), ({ json }) =>
    (
      json as {
        readonly results: ReadonlyArray<{
          readonly actor: { readonly type: string; readonly id: string | null; readonly name: string | null }
          readonly resource_id: string
          readonly ip: string | null
        }>
      }
    ).results.map(({ actor, ip, resource_id }) => ({ actor, resource_id, ip }))
  )

/** The token of the newest letter to this address. */
export const letterTo = (email: string) =>
  Effect.map(Effect.andThen(Features.lettersSent, Features.lettersSent), () => Features.tokenFor(email) ?? "")

/** Asks the door itself, whose process has counted no request before, `times` times for a letter. */
const asked = (ask: (email: string) => Effect.Effect<unknown>) => (email: string, times: number) =>
  Effect.forEach(Array.from({ length: times }), () => Effect.andThen(ask(email), Features.lettersSent))
export const resends = Effect.map(Tenants, (tenants) => asked(tenants.resendVerification))
export const resets = Effect.map(Team, (team) => asked(team.requestReset))

/** A member who was invited with this key and has joined. */
export const joined = Effect.fnUntraced(function* (by: string, role: string, tenantId: string) {
  const email = newEmail()
  yield* post("/v1/team/invitations", { email, role }, { key: by })
  const token = yield* letterTo(email)
  const names = { first_name: "Grace", last_name: "Hopper" }
  const { json } = yield* post("/v1/team/invitations/accept", { token, password, ...names })
  return { id: (json as { readonly id: string }).id, email, tenantId, key: yield* login(email) } satisfies Person
})
