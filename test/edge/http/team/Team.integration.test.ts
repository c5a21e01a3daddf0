import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { endpointScopes } from "../../../../src/domain/Scope.ts"
import * as Features from "../../../support/service/Features.ts"
import * as Wire from "./Wire.ts"

interface Listed {
  readonly count: number
  readonly results: ReadonlyArray<Record<string, unknown>>
}

const ten = Array.from({ length: 10 }, (_, index) => index)
const names = { first_name: "Grace", last_name: "Hopper" }
const accept = (token: string, fields: Readonly<Record<string, unknown>> = {}) =>
  Wire.post("/v1/team/invitations/accept", { token, password: Wire.password, ...names, ...fields })
const invite = (key: string, email: string, role = "viewer") =>
  Wire.post("/v1/team/invitations", { email, role }, { key })
const change = (key: string, id: string, body: unknown) =>
  Effect.map(Wire.ask("PATCH", `/v1/team/members/${id}`, { key, body }), Wire.outcome)
const remove = (key: string, id: string) =>
  Effect.map(Wire.ask("DELETE", `/v1/team/members/${id}`, { key }), Wire.outcome)
const status = (key: string, path: string) => Effect.map(Wire.ask("GET", path, { key }), ({ status }) => status)

describe("invitations (guide/team.md#invitations)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    it.effect("bring a verified member with the role, once", () =>
      Effect.gen(function* () {
        const { owner } = yield* Wire.workspace()
        const email = Wire.newEmail()
        const invited = yield* invite(owner.key, email.toUpperCase(), "developer")
        expect(invited.status).toBe(201)
        expect(invited.json).toMatchObject({ email, role: "developer", status: "pending" })
        const { created_at, expires_at, id } = invited.json as Readonly<Record<string, string>>
        expect(Date.parse(expires_at ?? "") - Date.parse(created_at ?? "")).toBe(7 * 86_400_000)
        expect(invited.text).not.toContain("token")
        const token = yield* Wire.letterTo(email)
        const joined = yield* accept(token)
        expect(joined.status).toBe(201)
        expect(joined.json).toMatchObject({
          email,
          ...names,
          role: "developer",
          status: "active",
          email_verified: true
        })
        expect(Wire.outcome(yield* accept(token))).toEqual([400, "invalid_request"])
        const found = yield* Wire.ask("GET", `/v1/team/invitations/${id}`, { key: owner.key })
        expect(found.json).toMatchObject({ id, status: "accepted" })
        expect(Wire.outcome(yield* Wire.ask("DELETE", `/v1/team/invitations/${id}`, { key: owner.key }))).toEqual([
          409,
          "conflict"
        ])
        expect(yield* Wire.linesOf(owner.key, "invitation.accepted")).toEqual([
          {
            actor: { type: "user", id: (joined.json as { readonly id: string }).id, name: "Grace Hopper" },
            resource_id: id,
            ip: expect.stringMatching(/^[0-9.]+$/)
          }
        ])
        const listed = (yield* Wire.ask("GET", "/v1/team/members", { key: owner.key })).json as Listed
        expect(listed.count).toBe(2)
        expect(listed.results[0]).toMatchObject({ email, role: "developer", last_login_at: null })
        const key = yield* Wire.login(email)
        expect(yield* status(key, "/v1/connections")).toBe(200)
        expect(yield* status(key, "/v1/team/members")).toBe(403)
      })
    )

    it.effect("are listed, read, revoked, and run out after seven days", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { owner } = yield* Wire.workspace()
        const other = yield* Wire.workspace()
        const emails = [Wire.newEmail(), Wire.newEmail()]
        const ids = yield* Effect.forEach(emails, (email) =>
          Effect.map(invite(owner.key, email), ({ json }) => (json as { readonly id: string }).id)
        )
        const listed = (yield* Wire.ask("GET", "/v1/team/invitations?page=1", { key: owner.key })).json as Listed
        expect(listed.results.map(({ id }) => id)).toEqual(ids.toReversed())
        const one = `/v1/team/invitations/${ids[0]}`
        for (const [method, path] of [
          ["GET", one],
          ["DELETE", one],
          ["GET", "/v1/team/invitations/nonsense"]
        ] as const)
          expect(Wire.outcome(yield* Wire.ask(method, path, { key: other.owner.key }))).toEqual([404, "not_found"])
        const [revoked = "", expired = ""] = yield* Effect.forEach(emails, Wire.letterTo)
        expect((yield* Wire.ask("DELETE", one, { key: owner.key })).status).toBe(204)
        expect((yield* Wire.ask("DELETE", one, { key: owner.key })).status).toBe(204)
        expect((yield* accept(revoked)).status).toBe(400)
        yield* sql`UPDATE invitation SET expires_at = now() - interval '1 second' WHERE id = ${ids[1] ?? null}`
        expect((yield* accept(expired)).status).toBe(400)
        const after = (yield* Wire.ask("GET", "/v1/team/invitations", { key: owner.key })).json as Listed
        expect(after.results.map(({ status }) => status)).toEqual(["expired", "revoked"])
        // An expired or revoked invitation blocks no new one.
        expect((yield* invite(owner.key, emails[1] ?? "")).status).toBe(201)
      })
    )

    it.effect("tell only who holds the token that an address has an account", () =>
      Effect.gen(function* () {
        const { owner } = yield* Wire.workspace()
        const elsewhere = yield* Wire.workspace()
        const unknown = Wire.newEmail()
        const known = yield* invite(owner.key, elsewhere.owner.email)
        const fresh = yield* invite(owner.key, unknown)
        const shape = (json: unknown) => Object.keys(json as object).toSorted((a, b) => a.localeCompare(b))
        expect([known.status, shape(known.json)]).toEqual([fresh.status, shape(fresh.json)])
        const token = yield* Wire.letterTo(elsewhere.owner.email)
        expect(Wire.outcome(yield* accept(token))).toEqual([409, "conflict"])
        expect(Wire.outcome(yield* accept("guess"))).toEqual([400, "invalid_request"])
        // The workspace knows its own members and invitations.
        expect(Wire.outcome(yield* invite(owner.key, owner.email))).toEqual([409, "conflict"])
        expect(Wire.outcome(yield* invite(owner.key, unknown))).toEqual([409, "conflict"])
      })
    )

    it.effect("give a place to one of ten at once, and an address to one of two workspaces", () =>
      Effect.gen(function* () {
        const [one, two] = [yield* Wire.workspace(), yield* Wire.workspace()]
        const email = Wire.newEmail()
        yield* invite(one.owner.key, email)
        const first = yield* Wire.letterTo(email)
        yield* invite(two.owner.key, email)
        const second = yield* Wire.letterTo(email)
        expect(second).not.toBe(first)
        const answers = yield* Effect.forEach(ten, (n) => accept(n % 2 === 0 ? first : second), {
          concurrency: "unbounded"
        })
        expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
        for (const { status } of answers) expect([201, 400, 409]).toContain(status)
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql`SELECT count(*)::int AS n FROM member WHERE email = ${email}`
        expect(row).toEqual({ n: 1 })
      })
    )

    it.effect("carry no message of a stranger, and nothing that acts", () =>
      Effect.gen(function* () {
        const hostile = "<script>alert(1)</script> win at http://evil.example/ \r\nBcc: x@y.com"
        const { owner } = yield* Wire.workspace(hostile.slice(0, 120))
        const email = Wire.newEmail()
        yield* invite(owner.key, email)
        yield* Features.lettersSent
        const letter = Features.mails.findLast(({ to }) => to.address === email)
        expect(letter?.subject).toBe("You are invited to a workspace")
        expect(letter?.text).not.toMatch(/evil|script|Bcc/)
        expect(letter?.html).not.toMatch(/evil|script|Bcc/)
      })
    )

    it.effect("are limited: a hundred that wait for an answer, and joining like signing up", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO invitation (id, tenant_id, email, role, token_hash, status, expires_at, created_at)
          SELECT gen_random_uuid(), ${tenantId}, n || '@x.com', 'viewer', 'h' || n, 'pending', now() + interval '1 day', now()
          FROM generate_series(1, 100) AS n`
        expect(Wire.outcome(yield* invite(owner.key, Wire.newEmail()))).toEqual([409, "conflict"])
        const from = Wire.somewhere()
        const guess = Wire.post(
          "/v1/team/invitations/accept",
          { token: "x", password: Wire.password, ...names },
          { from }
        )
        for (const _ of [1, 2, 3, 4, 5]) expect((yield* guess).status).toBe(400)
        expect((yield* guess).status).toBe(429)
        for (const body of [{ email: "a@x.com, b@y.com", role: "viewer" }, { email: "a@x.com", role: "king" }, {}])
          expect((yield* Wire.post("/v1/team/invitations", body, { key: owner.key })).status).toBe(400)
      })
    )
  })
})

describe("members (guide/team.md#members)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    it.effect("may do what their role allows, at once, with a login and with the keys that they made", () =>
      Effect.gen(function* () {
        const { key: machine, owner, tenantId } = yield* Wire.workspace()
        const second = yield* Wire.joined(owner.key, "admin", tenantId)
        const made = yield* Wire.post("/v1/api-keys", { name: "of the second", scopes: ["*"] }, { key: second.key })
        expect(made.json).toMatchObject({ member_id: second.id, is_login: false, expires_at: null })
        const key = (made.json as { readonly api_key_plaintext: string }).api_key_plaintext
        const more = yield* Wire.post("/v1/api-keys", { name: "of its key" }, { key })
        expect(more.json).toMatchObject({ member_id: second.id })
        expect(yield* status(key, "/v1/team/members")).toBe(200)
        expect(yield* change(owner.key, second.id, { role: "billing" })).toEqual([200, null])
        for (const each of [key, second.key]) {
          expect(yield* status(each, "/v1/team/members")).toBe(403)
          expect(yield* status(each, "/v1/account")).toBe(200)
        }
        expect(yield* change(owner.key, second.id, { role: "admin" })).toEqual([200, null])
        expect(yield* status(key, "/v1/team/members")).toBe(200)
        expect(yield* change(owner.key, second.id, { status: "disabled" })).toEqual([200, null])
        for (const each of [key, second.key]) expect(yield* status(each, "/v1/account")).toBe(401)
        expect(yield* change(owner.key, second.id, { status: "active" })).toEqual([200, null])
        // The keys of a disabled member are revoked for good.
        for (const each of [key, second.key]) expect(yield* status(each, "/v1/account")).toBe(401)
        expect(yield* status(yield* Wire.login(second.email), "/v1/account")).toBe(200)
        expect(yield* remove(owner.key, second.id)).toEqual([204, null])
        expect(yield* remove(owner.key, second.id)).toEqual([404, "not_found"])
        expect(yield* status(machine, "/v1/account")).toBe(200)
        const sql = yield* SqlClient.SqlClient
        const lines = yield* sql<{ readonly action: string }>`
          SELECT action FROM audit WHERE resource_id = ${second.id} AND actor_type = 'user' AND actor_id = ${owner.id}
          ORDER BY ordinal`
        expect(lines.map(({ action }) => action)).toEqual([...Array(4).fill("user.updated"), "user.removed"])
        // The address is free again.
        const again = { password: Wire.password, tenant_name: "New", first_name: "G", last_name: "H" }
        expect((yield* Wire.post("/v1/signup", { email: second.email, ...again })).status).toBe(201)
      })
    )

    it.effect("keep an owner: the last one is neither demoted, disabled nor removed, also by two at once", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        for (const body of [{ role: "admin" }, { status: "disabled" }])
          expect(yield* change(owner.key, owner.id, body)).toEqual([409, "conflict"])
        expect(yield* remove(owner.key, owner.id)).toEqual([409, "conflict"])
        const second = yield* Wire.joined(owner.key, "owner", tenantId)
        const both = yield* Effect.all([remove(owner.key, second.id), remove(second.key, owner.id)], {
          concurrency: "unbounded"
        })
        expect(both.filter(([status]) => status === 204)).toHaveLength(1)
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql`SELECT count(*)::int AS n FROM member WHERE tenant_id = ${tenantId}`
        expect(row).toEqual({ n: 1 })
      })
    )

    it.effect("do not climb: nobody gives or touches more than they hold, and an admin touches no owner", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        const admin = yield* Wire.joined(owner.key, "admin", tenantId)
        const developer = yield* Wire.joined(owner.key, "developer", tenantId)
        const forbidden = [403, "forbidden"]
        expect(yield* change(admin.key, admin.id, { role: "owner" })).toEqual(forbidden)
        expect(yield* change(admin.key, owner.id, { role: "viewer" })).toEqual(forbidden)
        expect(yield* remove(admin.key, owner.id)).toEqual(forbidden)
        expect(Wire.outcome(yield* invite(admin.key, Wire.newEmail(), "owner"))).toEqual(forbidden)
        expect(yield* change(admin.key, developer.id, { role: "billing" })).toEqual([200, null])
        expect(yield* change(developer.key, developer.id, { role: "admin" })).toEqual(forbidden)
        const narrow = yield* Wire.post(
          "/v1/api-keys",
          { name: "narrow", scopes: ["team:read", "team:write", "calls:read"] },
          { key: owner.key }
        )
        const { api_key_plaintext: key } = narrow.json as { readonly api_key_plaintext: string }
        for (const role of ["owner", "admin", "developer", "billing", "viewer"]) {
          expect(Wire.outcome(yield* invite(key, Wire.newEmail(), role))).toEqual(forbidden)
          expect(yield* change(key, developer.id, { role })).toEqual(forbidden)
        }
        expect(yield* remove(key, admin.id)).toEqual(forbidden)
      })
    )

    it.effect("take what they promised along when they lose their role", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        const admin = yield* Wire.joined(owner.key, "admin", tenantId)
        const email = Wire.newEmail()
        yield* invite(admin.key, email, "admin")
        const token = yield* Wire.letterTo(email)
        yield* change(owner.key, admin.id, { role: "viewer" })
        expect((yield* accept(token)).status).toBe(400)
      })
    )

    it.effect("are those of one workspace", () =>
      Effect.gen(function* () {
        const one = yield* Wire.workspace()
        const two = yield* Wire.workspace()
        expect(yield* change(two.owner.key, one.owner.id, { role: "viewer" })).toEqual([404, "not_found"])
        expect(yield* remove(two.owner.key, one.owner.id)).toEqual([404, "not_found"])
        expect(yield* change(one.owner.key, "nonsense", { role: "viewer" })).toEqual([404, "not_found"])
        const listed = (yield* Wire.ask("GET", "/v1/team/members", { key: two.owner.key })).json as Listed
        expect(listed.results.map(({ id }) => id)).toEqual([two.owner.id])
        expect(Wire.outcome(yield* Wire.ask("GET", "/v1/team/members"))).toEqual([401, "authentication_required"])
      })
    )

    it.effect("repeat a change with its Idempotency-Key", () =>
      Effect.gen(function* () {
        const { owner } = yield* Wire.workspace()
        const headers = { "idempotency-key": "invite-1" }
        const body = { email: Wire.newEmail(), role: "viewer" }
        const [first, second] = yield* Effect.forEach([1, 2], () =>
          Wire.post("/v1/team/invitations", body, { key: owner.key, headers })
        )
        expect([first?.status, first?.text]).toEqual([second?.status, second?.text])
        expect(second?.headers["idempotent-replayed"]).toBe("true")
      })
    )
  })
})

describe("roles (guide/team.md#roles)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    it.effect("are a fixed list", () =>
      Effect.gen(function* () {
        const { owner } = yield* Wire.workspace()
        const { json } = yield* Wire.ask("GET", "/v1/team/roles", { key: owner.key })
        const reads = endpointScopes.filter((scope) => scope.endsWith(":read"))
        expect(json).toEqual({
          count: 5,
          next: null,
          previous: null,
          results: [
            { slug: "owner", name: "Owner", scopes: ["*"] },
            { slug: "admin", name: "Administrator", scopes: ["*"] },
            {
              slug: "developer",
              name: "Developer",
              scopes: [
                "calls:read",
                "calls:write",
                "account:read",
                "usage:read",
                "webhooks:read",
                "webhooks:write",
                "connection:read",
                "api_keys:read"
              ]
            },
            {
              slug: "billing",
              name: "Billing",
              scopes: ["account:read", "usage:read", "billing:read", "billing:write"]
            },
            { slug: "viewer", name: "Viewer", scopes: reads }
          ]
        })
      })
    )
  })
})
