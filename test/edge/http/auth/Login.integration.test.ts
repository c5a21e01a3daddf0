import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Features from "../../../support/service/Features.ts"
import * as Wire from "../team/Wire.ts"

const ten = Array.from({ length: 10 }, (_, index) => index)

describe("login (guide/authentication.md#login)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    it.effect("gives a key for twelve hours with the scopes of the role, and says who acts", () =>
      Effect.gen(function* () {
        const { owner } = yield* Wire.workspace()
        const before = Date.now()
        const answer = yield* Wire.post("/v1/auth/login", { email: owner.email.toUpperCase(), password: Wire.password })
        expect(answer.status).toBe(200)
        const { api_key_plaintext: key, expires_at } = answer.json as {
          readonly api_key_plaintext: string
          readonly expires_at: string
        }
        expect(key).toMatch(/^svc_live_[\w-]{43}$/)
        const lifeMs = Date.parse(expires_at) - before
        expect(lifeMs).toBeGreaterThan(12 * 3_600_000 - 1)
        expect(lifeMs).toBeLessThan(12 * 3_600_000 + 30_000)
        expect((yield* Wire.ask("GET", "/v1/account", { key })).status).toBe(200)
        const keys = (yield* Wire.ask("GET", "/v1/api-keys", { key })).json as {
          readonly results: ReadonlyArray<Record<string, unknown>>
        }
        expect(keys.results[0]).toMatchObject({ member_id: owner.id, is_login: true, scopes: ["*"], expires_at })
        expect(keys.results.at(-1)).toMatchObject({ member_id: null, is_login: false })
        yield* Wire.post("/v1/api-keys", { name: "made" }, { key })
        const sql = yield* SqlClient.SqlClient
        const lines = yield* sql<{ readonly action: string; readonly type: string; readonly id: string }>`
          SELECT action, actor_type AS type, actor_id AS id FROM audit WHERE tenant_id = ${owner.tenantId}
          ORDER BY ordinal DESC LIMIT 2`
        expect(lines).toEqual([
          { action: "api_key.created", type: "user", id: owner.id },
          { action: "user.logged_in", type: "user", id: owner.id }
        ])
        const members = (yield* Wire.ask("GET", "/v1/team/members", { key })).json as {
          readonly results: ReadonlyArray<{ readonly last_login_at: string }>
        }
        expect(Date.parse(members.results[0]?.last_login_at ?? "")).toBeGreaterThan(before - 1)
      })
    )

    it.effect("answers an unknown address, a wrong password and a disabled member alike, after the same work", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        const disabled = yield* Wire.joined(owner.key, "viewer", tenantId)
        yield* Wire.ask("PATCH", `/v1/team/members/${disabled.id}`, { key: owner.key, body: { status: "disabled" } })
        const attempts = [
          { email: "nobody@example.com", password: Wire.password },
          { email: owner.email, password: "wrong horse battery" },
          { email: disabled.email, password: Wire.password }
        ]
        const answers = yield* Effect.forEach(attempts, (attempt) =>
          Effect.gen(function* () {
            Wire.hashed.count = 0
            const { json, status } = yield* Wire.post("/v1/auth/login", attempt)
            return { json, status, hashed: Wire.hashed.count }
          })
        )
        expect(answers[0]).toMatchObject({ status: 401, json: { error: { code: "invalid_credentials" } }, hashed: 1 })
        expect(answers[1]).toEqual(answers[0])
        expect(answers[2]).toEqual(answers[0])
      })
    )

    it.effect("is limited to ten in a quarter of an hour by address and e-mail, and says when to come again", () =>
      Effect.gen(function* () {
        const from = Wire.somewhere()
        const attempt = (email: string, from: string) =>
          Wire.post("/v1/auth/login", { email, password: "wrong horse battery" }, { from })
        for (const _ of ten) expect((yield* attempt("one@example.com", from)).status).toBe(401)
        const refused = yield* attempt("ONE@example.com", from)
        expect(Wire.outcome(refused)).toEqual([429, "rate_limited"])
        expect(Number(refused.headers["retry-after"])).toBeGreaterThan(800)
        expect(Number(refused.headers["retry-after"])).toBeLessThan(901)
        expect((yield* attempt("two@example.com", from)).status).toBe(401)
        expect((yield* attempt("one@example.com", Wire.somewhere())).status).toBe(401)
      })
    )

    it.effect(
      "is limited by the address alone, whichever accounts are tried, and a right password does not count",
      () =>
        Effect.gen(function* () {
          const { owner } = yield* Wire.workspace()
          const from = Wire.somewhere()
          const attempt = (email: string, password: string) =>
            Wire.post("/v1/auth/login", { email, password }, { from })
          for (const _ of ten.slice(0, 5)) expect((yield* attempt(owner.email, Wire.password)).status).toBe(200)
          const tried = Array.from({ length: 40 }, (_, nth) => `sprayed${nth}@example.com`)
          const answers = yield* Effect.forEach(tried, (email) => attempt(email, "wrong horse battery"))
          expect(answers.map(({ status }) => status)).toEqual(tried.map((_, nth) => (nth < 30 ? 401 : 429)))
          expect(Number(answers[30]?.headers["retry-after"])).toBeGreaterThan(800)
          expect((yield* attempt(owner.email, Wire.password)).status).toBe(429)
          expect(yield* Wire.login(owner.email)).toMatch(/^svc_live_/)
        })
    )

    it.effect("is limited by the site of an IPv6 address, whose owner has many networks", () =>
      Effect.gen(function* () {
        const tried = Array.from({ length: 100 }, (_, nth) => nth)
        const answers = yield* Effect.forEach(tried, (nth) =>
          Wire.post(
            "/v1/auth/login",
            { email: `spread${nth}@example.com`, password: "wrong horse battery" },
            { from: `2001:db8:77:${nth.toString(16)}::1` }
          )
        )
        expect(answers.map(({ status }) => status)).toEqual(tried.map((nth) => (nth < 90 ? 401 : 429)))
      })
    )

    it.effect("is limited for an account as a whole, and a stranger who uses that up does not shut its owner out", () =>
      Effect.gen(function* () {
        const { owner } = yield* Wire.workspace()
        const home = Wire.somewhere()
        const log = (email: string, password: string, from: string) =>
          Effect.map(Wire.post("/v1/auth/login", { email, password }, { from }), ({ status }) => status)
        expect(yield* log(owner.email, Wire.password, home)).toBe(200)
        const tried = Array.from({ length: 60 }, (_, nth) => nth)
        for (const email of [owner.email, "unknown@example.com"]) {
          const statuses = yield* Effect.forEach(tried, (nth) =>
            log(email.toUpperCase(), "wrong horse battery", `2001:db8:${nth}::1`)
          )
          expect(statuses).toEqual(tried.map((nth) => (nth < 20 ? 401 : 429)))
        }
        // From where the owner has logged in before, the password decides alone.
        expect(yield* log(owner.email, "wrong horse battery", home)).toBe(401)
        expect(yield* log(owner.email, Wire.password, home)).toBe(200)
        expect(yield* log(owner.email, Wire.password, Wire.somewhere())).toBe(429)
        // From anywhere else, a letter opens the account.
        const hotel = Wire.somewhere()
        yield* Wire.post("/v1/auth/password-reset", { email: owner.email })
        const token = yield* Wire.letterTo(owner.email)
        const new_password = "battery horse correct"
        yield* Wire.post("/v1/auth/password-reset/confirm", { token, new_password }, { from: hotel })
        for (const nth of tried) yield* log(owner.email, "wrong horse battery", `2001:db8:${nth}::1`)
        expect(yield* log(owner.email, new_password, hotel)).toBe(200)
        // A network from before the reset is known no more.
        expect(yield* log(owner.email, "wrong horse battery", home)).toBe(429)
      })
    )

    it.effect("refuses what is no login with 400, and e-mail addresses that are two", () =>
      Effect.gen(function* () {
        const emails = ["a@x.com, b@y.com", "a@x.com\r\nBcc: b@y.com", "Ada <a@x.com>", "a(b)@x.com", '"a"@x.com', "x"]
        for (const email of emails) {
          expect(Wire.outcome(yield* Wire.post("/v1/auth/login", { email, password: "p" }))).toEqual([
            400,
            "invalid_request"
          ])
          expect((yield* Wire.post("/v1/auth/password-reset", { email })).status).toBe(400)
          expect((yield* Wire.post("/v1/auth/verify-email/resend", { email })).status).toBe(400)
        }
        expect((yield* Wire.post("/v1/auth/login", { email: "a@x.com" })).status).toBe(400)
        expect((yield* Wire.post("/v1/auth/login", { email: "a@x.com", password: "p", more: 1 })).status).toBe(400)
      })
    )

    it.effect("works while the workspace is suspended, for what a suspended one may see; not once it is closed", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE tenant SET status = 'suspended', suspension_reason = 'operator' WHERE id = ${tenantId}`
        const key = yield* Wire.login(owner.email)
        expect((yield* Wire.ask("GET", "/v1/account", { key })).status).toBe(200)
        yield* sql`UPDATE tenant SET status = 'closed', suspension_reason = NULL WHERE id = ${tenantId}`
        const closed = yield* Wire.post("/v1/auth/login", { email: owner.email, password: Wire.password })
        expect(Wire.outcome(closed)).toEqual([401, "invalid_credentials"])
      })
    )
  })
})

describe("password reset (guide/authentication.md#password-reset)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    const reset = (email: string) => Wire.post("/v1/auth/password-reset", { email })
    const confirm = (token: string, new_password = "another horse battery") =>
      Wire.post("/v1/auth/password-reset/confirm", { token, new_password })

    it.effect("sets a new password once, ends the logins and no other keys, and tells the member", () =>
      Effect.gen(function* () {
        const { key, owner } = yield* Wire.workspace()
        const made = (yield* Wire.post("/v1/api-keys", { name: "deploy" }, { key: owner.key })).json as {
          readonly api_key_plaintext: string
        }
        expect((yield* reset(owner.email)).status).toBe(202)
        const token = yield* Wire.letterTo(owner.email)
        expect(Wire.outcome(yield* confirm(token))).toEqual([200, null])
        expect(Wire.outcome(yield* confirm(token))).toEqual([400, "invalid_request"])
        const account = (key: string) => Effect.map(Wire.ask("GET", "/v1/account", { key }), ({ status }) => status)
        expect(yield* account(owner.key)).toBe(401)
        expect(yield* account(made.api_key_plaintext)).toBe(200)
        expect(yield* account(key)).toBe(200)
        expect((yield* Wire.post("/v1/auth/login", { email: owner.email, password: Wire.password })).status).toBe(401)
        expect(yield* account(yield* Wire.login(owner.email, "another horse battery"))).toBe(200)
        yield* Features.lettersSent
        const notice = Features.mails.filter(({ to }) => to.address === owner.email).at(-1)
        expect(notice?.subject).toBe("Your password was changed")
        expect(notice?.text).not.toContain("another horse")
        for (const action of ["user.email_verified", "user.password_reset"])
          expect(yield* Wire.linesOf(key, action), action).toEqual([
            {
              actor: { type: "user", id: owner.id, name: "Ada Lovelace" },
              resource_id: owner.id,
              ip: expect.stringMatching(/^[0-9.]+$/)
            }
          ])
      })
    )

    it.effect("answers all alike, and writes only to who is a member, at the address that is stored", () =>
      Effect.gen(function* () {
        const { owner, tenantId } = yield* Wire.workspace()
        const disabled = yield* Wire.joined(owner.key, "viewer", tenantId)
        yield* Wire.ask("PATCH", `/v1/team/members/${disabled.id}`, { key: owner.key, body: { status: "disabled" } })
        yield* Features.lettersSent
        Features.mails.length = 0
        // U+212A lower-cases to k, so it finds the member, and the letter goes to the member's stored address.
        const alike = owner.email.replace("k", "\u212a")
        const answers = yield* Effect.forEach([owner.email, "nobody@example.com", disabled.email, alike], reset)
        for (const answer of answers) expect([answer.status, answer.text]).toEqual([202, "{}"])
        yield* Features.lettersSent
        yield* Features.lettersSent
        expect([...new Set(Features.mails.map(({ to }) => to.address))]).toEqual([owner.email])
      })
    )

    it.effect("gives the new password to one of ten at once, and the newest token ends those before", () =>
      Effect.gen(function* () {
        const { owner } = yield* Wire.workspace()
        yield* reset(owner.email)
        const first = yield* Wire.letterTo(owner.email)
        yield* reset(owner.email)
        const second = yield* Wire.letterTo(owner.email)
        expect(second).not.toBe(first)
        const attempts = yield* Effect.forEach(ten, (n) => confirm(second, `password number ${n}`), {
          concurrency: "unbounded"
        })
        const won = attempts.findIndex(({ status }) => status === 200)
        expect(attempts.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(9).fill(400)])
        expect(yield* Wire.login(owner.email, `password number ${won}`)).toMatch(/^svc_live_/)
        expect((yield* confirm(first)).status).toBe(400)
      })
    )

    it.effect("takes no token of another kind, of another's guess, or that is an hour old", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const email = Wire.newEmail()
        const body = { email, password: Wire.password, tenant_name: "X", first_name: "A", last_name: "B" }
        yield* Wire.post("/v1/signup", body)
        const verification = yield* Wire.letterTo(email)
        expect((yield* confirm(verification)).status).toBe(400)
        expect((yield* confirm("guess")).status).toBe(400)
        yield* reset(email)
        const token = yield* Wire.letterTo(email)
        expect((yield* Wire.post("/v1/auth/verify-email", { token })).status).toBe(400)
        yield* sql`UPDATE email_token SET expires_at = now() - interval '1 second' WHERE purpose = 'reset_password'`
        expect((yield* confirm(token)).status).toBe(400)
        expect((yield* Wire.post("/v1/auth/verify-email", { token: verification })).status).toBe(200)
        for (const new_password of ["short", "x".repeat(129)])
          expect((yield* confirm(token, new_password)).status).toBe(400)
      })
    )

    it.effect("is limited by e-mail and by address, and so is the confirmation", () =>
      Effect.gen(function* () {
        const by = (from: string) => (email: string) => Wire.post("/v1/auth/password-reset", { email }, { from })
        for (const _ of [1, 2, 3]) expect((yield* by(Wire.somewhere())("often@example.com")).status).toBe(202)
        const refused = yield* by(Wire.somewhere())("often@example.com")
        expect(Wire.outcome(refused)).toEqual([429, "rate_limited"])
        expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3_500)
        const from = Wire.somewhere()
        for (const n of ten) expect((yield* by(from)(`one${n}@example.com`)).status).toBe(202)
        expect((yield* by(from)("eleven@example.com")).status).toBe(429)
        const guess = Wire.post(
          "/v1/auth/password-reset/confirm",
          { token: "x", new_password: Wire.password },
          { from }
        )
        for (const _ of [...ten, ...ten]) expect((yield* guess).status).toBe(400)
        expect((yield* guess).status).toBe(429)
      })
    )
  })
})

describe("the pages of links (guide/mail.md#what-a-letter-looks-like)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    it.effect("load nothing, run their own script only, and use nothing up when they are opened", () =>
      Effect.gen(function* () {
        const email = Wire.newEmail()
        const body = { email, password: Wire.password, tenant_name: "X", first_name: "A", last_name: "B" }
        yield* Wire.post("/v1/signup", body)
        const token = yield* Wire.letterTo(email)
        const letter = Features.mails.findLast(({ to }) => to.address === email)
        expect(letter?.text).toContain(`http://localhost:8080/verify-email#${token}`)
        for (const path of ["/verify-email", "/reset-password", "/accept-invitation", "/signup"]) {
          const page = yield* Wire.ask("GET", `${path}?token=${token}`)
          expect(page.status).toBe(200)
          expect(page.headers["content-type"]).toBe("text/html; charset=utf-8")
          expect(page.headers["referrer-policy"]).toBe("no-referrer")
          const policy = page.headers["content-security-policy"]
          expect(policy).toMatch(/^default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';/)
          expect(policy).toMatch(/script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'$/)
          expect(page.text).not.toContain(token)
          expect(page.text).not.toMatch(/(src|href)=|url\(|innerHTML/)
        }
        for (const _ of [1, 2, 3]) yield* Wire.ask("GET", "/verify-email")
        expect((yield* Wire.post("/v1/auth/verify-email", { token })).status).toBe(200)
      })
    )
  })
})
