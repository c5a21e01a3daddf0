import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import * as Features from "../../../support/service/Features.ts"
import * as Wire from "../team/Wire.ts"

const names = { first_name: "Mal", last_name: "Lory" }
const chosen = "battery horse correct"

const works = (key: string) => Effect.map(Wire.ask("GET", "/v1/account", { key }), ({ status }) => status)
const keyOf = (answer: { readonly json: unknown }) =>
  (answer.json as { readonly api_key_plaintext: string }).api_key_plaintext

/** A stranger signs the address up, and makes everything that lets people and programs in. */
const takenBefore = Effect.fnUntraced(function* (email: string) {
  const signedUp = yield* Wire.post("/v1/signup", {
    email,
    password: Wire.password,
    tenant_name: "Acme",
    webhook_failover_url: "https://stranger.example/failover",
    ...names
  })
  const key = keyOf(signedUp)
  const { tenant, user } = signedUp.json as {
    readonly tenant: { readonly id: string }
    readonly user: { readonly id: string }
  }
  const made = keyOf(yield* Wire.post("/v1/api-keys", { name: "second" }, { key }))
  const login = yield* Wire.login(email)
  const ofLogin = keyOf(yield* Wire.post("/v1/api-keys", { name: "third" }, { key: login }))
  const accomplice = yield* Wire.joined(key, "owner", tenant.id)
  const pending = Wire.newEmail()
  yield* Wire.post("/v1/team/invitations", { email: pending, role: "owner" }, { key })
  const invitation = yield* Wire.letterTo(pending)
  yield* Features.lettersSent
  const verification = Features.tokenFor(email) ?? ""
  const keys = [key, made, login, ofLogin, accomplice.key]
  for (const one of keys) expect(yield* works(one)).toBe(200)
  return { id: user.id, tenantId: tenant.id, keys, accomplice, invitation, verification }
})

type Taken = Effect.Success<ReturnType<typeof takenBefore>>

/** Only the owner of the address is in. */
const isOver = Effect.fnUntraced(function* (taken: Taken, key: string) {
  for (const one of taken.keys) expect(yield* works(one)).toBe(401)
  const { email } = taken.accomplice
  expect((yield* Wire.post("/v1/auth/login", { email, password: Wire.password })).status).toBe(401)
  const accepted = yield* Wire.post("/v1/team/invitations/accept", {
    token: taken.invitation,
    password: Wire.password,
    ...names
  })
  expect(accepted.status).toBe(400)
  const { json } = yield* Wire.ask("GET", "/v1/account", { key })
  expect(json).toMatchObject({ tenant: { webhook_failover_url: null } })
  const members = (yield* Wire.ask("GET", "/v1/team/members", { key })).json as {
    readonly results: ReadonlyArray<Record<string, unknown>>
  }
  expect(members.results.map(({ email_verified, id, role, status }) => ({ email_verified, id, role, status }))).toEqual(
    [
      { id: taken.accomplice.id, role: "owner", status: "disabled", email_verified: true },
      { id: taken.id, role: "owner", status: "active", email_verified: true }
    ]
  )
  const sql = yield* SqlClient.SqlClient
  const jobs = yield* sql<{ readonly key: string }>`
    SELECT key FROM job WHERE kind = 'webhook.disabling_all' AND tenant_id = ${taken.tenantId}`
  expect(jobs).toHaveLength(1)
  for (const [action, count] of [
    ["api_key.revoked", taken.keys.length],
    ["invitation.revoked", 1],
    ["user.updated", 1],
    ["tenant.updated", 1]
  ] as const)
    expect([action, (yield* Wire.linesOf(key, action)).length]).toEqual([action, count])
})

const resetOf = Effect.fnUntraced(function* (email: string, fields: Readonly<Record<string, unknown>> = {}) {
  yield* Wire.post("/v1/auth/password-reset", { email })
  const token = yield* Wire.letterTo(email)
  const body = { token, new_password: chosen, ...fields }
  expect(Wire.outcome(yield* Wire.post("/v1/auth/password-reset/confirm", body))).toEqual([200, null])
  return yield* Wire.login(email, chosen)
})

/** Runs a request that waits for the lock of the tenant, and `meanwhile` while it waits. */
const whileLocked = Effect.fnUntraced(function* <A, E, R>(
  tenantId: string,
  request: Effect.Effect<A, E, R>,
  meanwhile: () => Effect.Effect<unknown>
) {
  const sql = yield* SqlClient.SqlClient
  const asked = yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SELECT FROM tenant WHERE id = ${tenantId} FOR NO KEY UPDATE`
      const fiber = yield* Effect.forkChild(request)
      yield* Wire.lockWaits(1)
      yield* meanwhile()
      return fiber
    })
  )
  return yield* Fiber.join(asked)
})

describe("what was made before an address was proven (guide/authentication.md#earlier-access)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    it.effect("ends with the reset of an address that was never confirmed", () =>
      Effect.gen(function* () {
        const email = Wire.newEmail()
        const taken = yield* takenBefore(email)
        const key = yield* resetOf(email)
        yield* isOver(taken, key)
        // The link that would have confirmed the address is used up, so it cannot take the workspace over later.
        const body = { token: taken.verification, end_earlier_access: true }
        expect(Wire.outcome(yield* Wire.post("/v1/auth/verify-email", body))).toEqual([400, "invalid_request"])
        expect(yield* works(key)).toBe(200)
        // The reset is the proof: the workspace has its credit, and a later reset ends logins only.
        const { json } = yield* Wire.ask("GET", "/v1/account", { key })
        expect(json).toMatchObject({ balance: { balance_cents: 500 } })
        const own = keyOf(yield* Wire.post("/v1/api-keys", { name: "mine" }, { key }))
        const again = yield* resetOf(email)
        expect([yield* works(key), yield* works(own), yield* works(again)]).toEqual([401, 200, 200])
        yield* resetOf(email, { end_earlier_access: true })
        expect([yield* works(own), yield* works(again)]).toEqual([401, 401])
      })
    )

    it.effect("ends with the confirmation of the address where that asks for it, and not otherwise", () =>
      Effect.gen(function* () {
        const email = Wire.newEmail()
        const taken = yield* takenBefore(email)
        const body = { token: taken.verification, end_earlier_access: true }
        expect((yield* Wire.post("/v1/auth/verify-email", body)).status).toBe(200)
        for (const one of taken.keys) expect(yield* works(one)).toBe(401)
        // The stranger chose the password.
        const again = yield* Wire.post("/v1/auth/login", { email, password: Wire.password })
        expect(Wire.outcome(again)).toEqual([401, "invalid_credentials"])
        yield* isOver(taken, yield* resetOf(email))
        const kept = yield* takenBefore(Wire.newEmail())
        expect((yield* Wire.post("/v1/auth/verify-email", { token: kept.verification })).status).toBe(200)
        for (const one of kept.keys) expect(yield* works(one)).toBe(200)
      })
    )

    it.effect("is only the member's own where the member is no owner", () =>
      Effect.gen(function* () {
        const { key, owner, tenantId } = yield* Wire.workspace()
        const member = yield* Wire.joined(owner.key, "admin", tenantId)
        const other = yield* Wire.joined(owner.key, "developer", tenantId)
        const made = keyOf(yield* Wire.post("/v1/api-keys", { name: "made" }, { key: member.key }))
        const guest = Wire.newEmail()
        yield* Wire.post("/v1/team/invitations", { email: guest, role: "viewer" }, { key: member.key })
        const token = yield* Wire.letterTo(guest)
        yield* resetOf(member.email, { end_earlier_access: true })
        expect([yield* works(member.key), yield* works(made)]).toEqual([401, 401])
        expect((yield* Wire.post("/v1/team/invitations/accept", { token, password: chosen, ...names })).status).toBe(
          400
        )
        for (const one of [key, owner.key, other.key]) expect(yield* works(one)).toBe(200)
      })
    )

    it.effect("includes a key that is being made meanwhile", () =>
      Effect.gen(function* () {
        const { key, tenantId } = yield* Wire.workspace()
        const sql = yield* SqlClient.SqlClient
        const asked = yield* whileLocked(tenantId, Wire.post("/v1/api-keys", { name: "late" }, { key }), () =>
          Effect.orDie(sql`UPDATE api_key SET revoked_at = now() WHERE tenant_id = ${tenantId} AND revoked_at IS NULL`)
        )
        expect(Wire.outcome(asked)).toEqual([401, "invalid_credentials"])
        expect(yield* sql`SELECT FROM api_key WHERE tenant_id = ${tenantId} AND revoked_at IS NULL`).toEqual([])
      })
    )

    it.effect("includes the subscriptions that are made until it has its turn", () =>
      Effect.gen(function* () {
        const { tenantId, verification } = yield* takenBefore(Wire.newEmail())
        const sql = yield* SqlClient.SqlClient
        let turnAt = Number.POSITIVE_INFINITY
        const body = { token: verification, end_earlier_access: true }
        const asked = yield* whileLocked(tenantId, Wire.post("/v1/auth/verify-email", body), () =>
          Effect.sync(() => void (turnAt = Date.now()))
        )
        expect(asked.status).toBe(200)
        const [job] = yield* sql<{ readonly key: string }>`
          SELECT key FROM job WHERE kind = 'webhook.disabling_all' AND tenant_id = ${tenantId}`
        expect(Number(job?.key.split(" ")[1])).toBeGreaterThanOrEqual(turnAt)
      })
    )

    it.effect("leaves a workspace alone for a disabled member, who could not use it", () =>
      Effect.gen(function* () {
        const email = Wire.newEmail()
        const { accomplice, id, verification } = yield* takenBefore(email)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE member SET status = 'disabled' WHERE id = ${id}`
        const body = { token: verification, end_earlier_access: true }
        expect(Wire.outcome(yield* Wire.post("/v1/auth/verify-email", body))).toEqual([400, "invalid_request"])
        expect(yield* works(accomplice.key)).toBe(200)
      })
    )

    it.effect("is only the member's own where the member is no owner any more, and never confirmed the address", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const asReset = Effect.fnUntraced(function* (email: string) {
          yield* Wire.post("/v1/auth/password-reset", { email })
          const token = yield* Wire.letterTo(email)
          return Wire.post("/v1/auth/password-reset/confirm", { token, new_password: chosen, end_earlier_access: true })
        })
        const asVerification = ({ verification }: Taken) =>
          Wire.post("/v1/auth/verify-email", { token: verification, end_earlier_access: true })
        for (const way of ["reset", "verification", "reset of a confirmed address"] as const)
          for (const when of ["before", "meanwhile"] as const) {
            const email = Wire.newEmail()
            const taken = yield* takenBefore(email)
            const { accomplice, id, tenantId, verification } = taken
            if (way === "reset of a confirmed address")
              yield* Wire.post("/v1/auth/verify-email", { token: verification })
            // Older versions let an owner be demoted who had not confirmed the address.
            const demote = Effect.orDie(sql`UPDATE member SET role = 'viewer' WHERE id = ${id}`)
            const request = way === "verification" ? asVerification(taken) : yield* asReset(email)
            if (when === "before") yield* demote
            const answer = yield* when === "before" ? request : whileLocked(tenantId, request, () => demote)
            expect([way, when, answer.status]).toEqual([way, when, 200])
            const [signup, made, login, ofLogin, other] = yield* Effect.forEach(taken.keys, works)
            expect([way, when, signup, made, other]).toEqual([way, when, 200, 200, 200])
            expect([way, when, login, ofLogin]).toEqual([way, when, 401, 401])
            const member = yield* Wire.ask("GET", "/v1/team/members", { key: accomplice.key })
            const { results } = member.json as { readonly results: ReadonlyArray<Record<string, unknown>> }
            expect(results.map((one) => [one["id"], one["role"], one["status"]])).toEqual([
              [accomplice.id, "owner", "active"],
              [id, "viewer", "active"]
            ])
          }
      })
    )

    it.effect("cannot take an unconfirmed owner's place: the owner is removed or stays", () =>
      Effect.gen(function* () {
        const email = Wire.newEmail()
        const { accomplice, id } = yield* takenBefore(email)
        const change = (body: unknown) =>
          Effect.map(Wire.ask("PATCH", `/v1/team/members/${id}`, { key: accomplice.key, body }), Wire.outcome)
        expect(yield* change({ role: "viewer" })).toEqual([409, "conflict"])
        expect(yield* change({ status: "disabled" })).toEqual([409, "conflict"])
        expect((yield* Wire.ask("DELETE", `/v1/team/members/${id}`, { key: accomplice.key })).status).toBe(204)
        // The address is free again.
        const again = { email, password: chosen, tenant_name: "Mine", ...names }
        expect((yield* Wire.post("/v1/signup", again)).status).toBe(201)
      })
    )
  })
})
