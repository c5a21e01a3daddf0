import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { ApiKeys } from "../../../../src/tenancy/apikey/ApiKey.ts"
import * as Id from "../../../../src/domain/Id.ts"
import * as Features from "../../../support/service/Features.ts"
import * as Wire from "./Wire.ts"

const names = { first_name: "Grace", last_name: "Hopper" }

/**
 * Runs two requests at once: `first` has written everything but its audit line when `second` starts. Returns both
 * answers.
 */
const beside = Effect.fnUntraced(function* <A, B, E, R>(first: Effect.Effect<A, E, R>, second: Effect.Effect<B, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const fibers = yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`LOCK TABLE audit IN SHARE MODE`
      const one = yield* Effect.forkChild(first)
      yield* Wire.lockWaits(1)
      const other = yield* Effect.forkChild(second)
      yield* Wire.lockWaits(2)
      return [one, other] as const
    })
  )
  return [yield* Fiber.join(fibers[0]), yield* Fiber.join(fibers[1])] as const
})

const works = (key: string) => Effect.map(Wire.ask("GET", "/v1/account", { key }), ({ status }) => status)
const keyOf = (answer: { readonly json: unknown }) =>
  (answer.json as { readonly api_key_plaintext: string }).api_key_plaintext
const members = (key: string) =>
  Effect.map(
    Wire.ask("GET", "/v1/team/members", { key }),
    ({ json }) =>
      (json as { readonly results: ReadonlyArray<{ readonly id: string; readonly status: string }> }).results
  )

/** A workspace that a stranger has signed up, and the token by which the owner of the address takes it over. */
const unproven = Effect.gen(function* () {
  const email = Wire.newEmail()
  const body = { email, password: Wire.password, tenant_name: "Acme", ...names }
  const { json } = yield* Wire.post("/v1/signup", body)
  const { api_key_plaintext: key, tenant } = json as {
    readonly api_key_plaintext: string
    readonly tenant: { readonly id: Id.TenantId }
  }
  const token = yield* Wire.letterTo(email)
  const takeOver = Wire.post("/v1/auth/verify-email", { token, end_earlier_access: true })
  return { email, key, tenantId: tenant.id, takeOver }
})

describe("what lets people in, made while it is taken away (guide/team.md#members)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    it.effect("a login is over for good when its member is disabled meanwhile", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        const member = yield* Wire.joined(owner.key, "developer", tenantId)
        const path = `/v1/team/members/${member.id}`
        const [login, disabled] = yield* beside(
          Wire.post("/v1/auth/login", { email: member.email, password: Wire.password }),
          Wire.ask("PATCH", path, { key: owner.key, body: { status: "disabled" } })
        )
        expect([login.status, disabled.status]).toEqual([200, 200])
        expect((yield* Wire.ask("PATCH", path, { key: owner.key, body: { status: "active" } })).status).toBe(200)
        expect(yield* works(keyOf(login))).toBe(401)
      })
    )

    it.effect("a login has the scopes of the role that its member has got meanwhile", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        const member = yield* Wire.joined(owner.key, "admin", tenantId)
        const path = `/v1/team/members/${member.id}`
        const [demoted, login] = yield* beside(
          Wire.ask("PATCH", path, { key: owner.key, body: { role: "viewer" } }),
          Wire.post("/v1/auth/login", { email: member.email, password: Wire.password })
        )
        expect([demoted.status, login.status]).toEqual([200, 200])
        expect((yield* Wire.ask("PATCH", path, { key: owner.key, body: { role: "admin" } })).status).toBe(200)
        const key = keyOf(login)
        expect((yield* Wire.post("/v1/api-keys", { name: "mine" }, { key })).status).toBe(403)
      })
    )

    it.effect("an invitation that is accepted meanwhile lets nobody stay in a workspace that is taken over", () =>
      Effect.gen(function* () {
        const { email, key, takeOver } = yield* unproven
        const guest = Wire.newEmail()
        yield* Wire.post("/v1/team/invitations", { email: guest, role: "owner" }, { key })
        const token = yield* Wire.letterTo(guest)
        const [joined, taken] = yield* beside(
          Wire.post("/v1/team/invitations/accept", { token, password: Wire.password, ...names }),
          takeOver
        )
        expect([joined.status, taken.status]).toEqual([201, 200])
        const login = yield* Wire.post("/v1/auth/login", { email: guest, password: Wire.password })
        expect(Wire.outcome(login)).toEqual([401, "invalid_credentials"])
        yield* Wire.post("/v1/auth/password-reset", { email })
        const reset = { token: yield* Wire.letterTo(email), new_password: Wire.password }
        yield* Wire.post("/v1/auth/password-reset/confirm", reset)
        const listed = yield* members(yield* Wire.login(email))
        expect(listed.filter(({ status }) => status === "active")).toHaveLength(1)
      })
    )

    it.effect("a key that the operator makes meanwhile ends with the others", () =>
      Effect.gen(function* () {
        const { takeOver, tenantId } = yield* unproven
        const keys = yield* ApiKeys
        const [issued, taken] = yield* beside(
          Effect.promise(() =>
            Effect.runPromise(keys.issue(tenantId, { name: "late", scopes: ["*"], expiresAtMs: null }))
          ),
          takeOver
        )
        expect(taken.status).toBe(200)
        expect(yield* works(issued.api_key_plaintext)).toBe(401)
      })
    )

    it.effect("a failover URL that is set meanwhile is removed", () =>
      Effect.gen(function* () {
        const { email, key, takeOver } = yield* unproven
        const [changed, taken] = yield* beside(
          Wire.ask("PATCH", "/v1/account", { key, body: { webhook_failover_url: "https://stranger.example/late" } }),
          takeOver
        )
        expect([changed.status, taken.status]).toEqual([200, 200])
        yield* Wire.post("/v1/auth/password-reset", { email })
        const reset = { token: yield* Wire.letterTo(email), new_password: Wire.password }
        yield* Wire.post("/v1/auth/password-reset/confirm", reset)
        const { json } = yield* Wire.ask("GET", "/v1/account", { key: yield* Wire.login(email) })
        expect(json).toMatchObject({ tenant: { webhook_failover_url: null } })
        yield* Features.lettersSent
      })
    )
  })
})
