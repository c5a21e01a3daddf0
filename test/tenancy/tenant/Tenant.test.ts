import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import { Trunks } from "../../../src/numbers/trunk/Trunk.ts"
import type { TenantId } from "../../../src/domain/Id.ts"
import * as Slot from "../../../src/runtime/idempotency/Slot.ts"
import { Tenants } from "../../../src/tenancy/tenant/Tenant.ts"
import * as CheapHashing from "../../support/CheapHashing.ts"
import * as Features from "../../support/service/Features.ts"

const by = { type: "operator", name: "test" } as const

/** The token of the first letter to this address, or of one after it. */
const tokenFor = (email: string, after = 0) =>
  Effect.andThen(
    // A request for another letter puts the letter into the queue.
    Effect.andThen(Features.lettersSent, Features.lettersSent),
    Effect.sync(() => {
      const token = Features.tokenFor(email, after)
      if (token === undefined) throw new Error(`no letter to ${email}`)
      return token
    })
  )

const confirming = (token: string) => ({ token, endEarlierAccess: false })

describe("signup (guide/tenants.md#signup)", () => {
  layer(Features.layer, { excludeTestServices: true })((it) => {
    it.effect("makes a tenant with its owner, first key, default route, trial credit and open account", () =>
      Effect.gen(function* () {
        const { caller, email, id } = yield* Features.newTenant({ name: "Müller & Söhne" })
        expect(caller.scopes).toStrictEqual(["*"])
        expect(yield* (yield* Tenants).find(id)).toMatchObject({
          slug: "muller-sohne",
          status: "active",
          currency: "USD"
        })
        expect((yield* (yield* Billing).balance(id)).balance_cents).toBe(500)
        const ledger = yield* (yield* Billing).ledger(id, {}, { limit: 20, offset: 0 })
        expect(
          ledger.results.map(({ amount_cents, balance_after_cents, type }) => ({
            amount_cents,
            balance_after_cents,
            type
          }))
        ).toStrictEqual([{ amount_cents: 500, balance_after_cents: 500, type: "adjustment" }])
        expect((yield* (yield* Trunks).resolve(id, null)).adapter).toBe("simulator")
        const { tally } = yield* (yield* Accounts).overview(id)
        expect(tally.balanceCents).toBe(500)
        expect(yield* tokenFor(email)).toBeTypeOf("string")
      })
    )

    it.effect("gives one trial credit to a mailbox, also to many that sign up at once", () =>
      Effect.gen(function* () {
        const spellings = ["j.doe@gmail.com", "jd.oe@gmail.com", "jdoe+1@gmail.com", "J.D.O.E@googlemail.com"]
        const tenants = yield* Effect.forEach(spellings, (email) => Features.newTenant({ email }), {
          concurrency: "unbounded"
        })
        const billing = yield* Billing
        const balances = yield* Effect.forEach(tenants, ({ id }) => billing.balance(id))
        expect(balances.map(({ balance_cents }) => balance_cents).toSorted((a, b) => a - b)).toStrictEqual([
          0, 0, 0, 500
        ])
      })
    )

    it.effect("lets one of twenty at once have an e-mail, whatever its case", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const sql = yield* SqlClient.SqlClient
        const attempts = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? "race@example.com" : "Race@Example.COM")),
          (email) => Effect.result(tenants.signup(Features.request({ email, tenantName: "Race" }), null, null)),
          { concurrency: "unbounded" }
        )
        expect(attempts.filter((attempt) => attempt._tag === "Success").length).toBe(1)
        for (const attempt of attempts) if (attempt._tag === "Failure") expect(attempt.failure.code).toBe("conflict")
        const [row] = yield* sql`SELECT count(*)::int AS n FROM tenant WHERE name = 'Race'`
        expect(row).toStrictEqual({ n: 1 })
      })
    )

    it.effect("hashes nothing for those who have gone, and takes addresses in turn", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const sql = yield* SqlClient.SqlClient
        const order: Array<string> = []
        const allCame = yield* Latch.make()
        const nextCame = yield* Latch.make()
        CheapHashing.held.until = (password) => {
          order.push(password)
          return Latch.await(order.length <= 2 ? allCame : nextCame)
        }
        yield* Effect.addFinalizer(() => Effect.sync(() => void (CheapHashing.held.until = () => Effect.void)))
        const passwordOf = (name: string) => `password of ${name}`
        const signup = (name: string, ip: string) =>
          tenants.signup(
            Features.request({ email: `${name}@example.com`, tenantName: name, password: passwordOf(name) }),
            ip,
            null
          )
        const loud = yield* Effect.forEach(
          Array.from({ length: 40 }, (_, n) => `loud${n}`),
          (name) => Effect.forkChild(signup(name, "192.0.2.1"), { startImmediately: true })
        )
        while (order.length < 2) yield* Effect.sleep("5 millis")
        // A connection that is still being made would keep the next ones back.
        yield* Effect.forEach(Array.from({ length: 10 }), () => sql`SELECT pg_sleep(0.05)`, { concurrency: 10 })
        const quiet = yield* Effect.forkChild(signup("quiet", "192.0.2.2"), { startImmediately: true })
        const late = yield* Effect.forkChild(signup("late", "192.0.2.3"), { startImmediately: true })
        yield* Fiber.interruptAll(loud.slice(4))
        // The others wait for their turn when the few statements before it have been answered.
        for (let asked = 0; asked < 50; asked++) yield* sql`SELECT`
        yield* Latch.open(allCame)
        while (order.length < 4) yield* Effect.sleep("5 millis")
        yield* Latch.open(nextCame)
        yield* Effect.forEach([...loud.slice(0, 4), quiet, late], Fiber.join)
        // Two passwords of the first address were being hashed when the others came.
        expect(order.slice(0, 4).toSorted()).toEqual(["late", "loud0", "loud1", "quiet"].map(passwordOf))
        const [row] = yield* sql`SELECT count(*)::int AS n FROM tenant WHERE name LIKE 'loud%'`
        expect(row).toStrictEqual({ n: 4 })
      })
    )

    it.effect("numbers the slugs of equal names, also when they sign up at once", () =>
      Effect.gen(function* () {
        const made = yield* Effect.forEach([1, 2, 3, 4], () => Features.newTenant({ name: "Same Name" }), {
          concurrency: 4
        })
        const tenants = yield* Tenants
        const slugs = yield* Effect.forEach(made, ({ id }) => Effect.map(tenants.find(id), ({ slug }) => slug))
        expect([...slugs].sort()).toStrictEqual(["same-name", "same-name-2", "same-name-3", "same-name-4"])
      })
    )

    it.effect("keeps passwords as scrypt with its parameters and the failover secret sealed", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const request = {
          ...Features.request({ email: "vault@example.com" }),
          webhookFailoverUrl: "https://example.com/hook"
        }
        const { body } = yield* (yield* Tenants).signup(request, null, null)
        const secret = JSON.parse(body ?? "").webhook_failover_secret_plaintext as string
        expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
        const [row] = yield* sql<{ readonly sealed: string; readonly password: string }>`
          SELECT webhook_failover_secret AS sealed, password_hash AS password FROM tenant t JOIN member m ON m.tenant_id = t.id
          WHERE m.email = 'vault@example.com'`
        expect(row?.sealed ?? "").toMatch(/^v1\./)
        expect(row?.password ?? "").toMatch(/^scrypt\$32768\$8\$3\$[\w-]+\$[\w-]{43}$/)
      })
    )

    it.effect("refuses a failover URL that is not public https and writes nothing", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        for (const url of ["http://example.com/", "https://127.0.0.1/", "https://u:p@example.com/", "nonsense"]) {
          const request = { ...Features.request({ email: "url@example.com" }), webhookFailoverUrl: url }
          expect((yield* Effect.flip(tenants.signup(request, null, null))).code).toBe("invalid_target_url")
        }
        yield* Features.newTenant({ email: "url@example.com" })
      })
    )

    it.effect("stores the receipt in the same commit, readable only with the same key and body", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const slot = Slot.make({
          owner: "email:once@example.com",
          credential: "the body",
          idempotencyKey: "k1",
          method: "POST",
          path: "/v1/signup",
          body: new Uint8Array([1])
        })
        const rendered = yield* (yield* Tenants).signup(Features.request({ email: "once@example.com" }), null, slot)
        const [row] = yield* sql<{ readonly status: number; readonly body: string; readonly sealed: boolean }>`
          SELECT status, body, sealed FROM idempotency WHERE owner = ${slot.owner} AND key = ${slot.key}`
        expect(row?.body.includes("svc_live_")).toBe(false)
        expect(row === undefined ? null : Slot.open(slot, row)).toStrictEqual(rendered)
      })
    )
  })
})

describe("e-mail verification (guide/tenants.md#e-mail-verification)", () => {
  layer(Features.mailing, { excludeTestServices: true })((it) => {
    it.effect("takes a token once and lifts the suspension for want of it", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const accounts = yield* Accounts
        const { email, id } = yield* Features.newTenant()
        const token = yield* tokenFor(email)
        yield* accounts.suspend(id, "email_unverified", by)
        const { body, status } = yield* tenants.verifyEmail(confirming(token), null)
        expect(status).toBe(200)
        expect(JSON.parse(body ?? "")).toStrictEqual({
          email_verified: true,
          tenant: { id, name: "Acme", status: "active" }
        })
        expect((yield* Effect.flip(tenants.verifyEmail(confirming(token), null))).code).toBe("invalid_request")
      })
    )

    it.effect("gives the trial credit, once, and not before", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const accounts = yield* Accounts
        const { email, id } = yield* Features.newTenant()
        const balance = Effect.map(accounts.overview(id), ({ tally }) => tally.balanceCents)
        expect(yield* balance).toBe(0)
        yield* tenants.resendVerification(email)
        const second = yield* tokenFor(email, 1)
        yield* tenants.verifyEmail(confirming(second), null)
        expect(yield* balance).toBe(500)
        expect((yield* (yield* Billing).balance(id)).balance_cents).toBe(500)
      })
    )

    it.effect("gives one trial credit to a mailbox, however it is spelled", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const credited = Effect.fnUntraced(function* (email: string) {
          const { id } = yield* Features.newTenant({ email })
          yield* (yield* Tenants).verifyEmail(confirming(yield* tokenFor(email)), null)
          return (yield* billing.balance(id)).balance_cents
        })
        expect(yield* credited("jane.doe@gmail.com")).toBe(500)
        expect(yield* credited("janedoe+two@googlemail.com")).toBe(0)
        expect(yield* credited("jane.doe@example.com")).toBe(500)
        expect(yield* credited("jane.doe+two@example.com")).toBe(500)
      })
    )

    it.effect("leaves a suspension by the operator alone", () =>
      Effect.gen(function* () {
        const { email, id } = yield* Features.newTenant()
        yield* (yield* Accounts).suspend(id, "operator", by)
        const { body } = yield* (yield* Tenants).verifyEmail(confirming(yield* tokenFor(email)), null)
        expect(JSON.parse(body ?? "").tenant.status).toBe("suspended")
      })
    )

    it.effect("resends to who is unverified, answers all alike, and one of the tokens uses up the others", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const { email } = yield* Features.newTenant()
        const first = yield* tokenFor(email)
        const known = yield* tenants.resendVerification(email.toUpperCase())
        const unknown = yield* tenants.resendVerification("nobody@example.com")
        expect(known).toStrictEqual({ status: 202, body: "{}" })
        expect(unknown).toStrictEqual(known)
        yield* tenants.verifyEmail(confirming(yield* tokenFor(email, 1)), null)
        expect((yield* Effect.flip(tenants.verifyEmail(confirming(first), null))).code).toBe("invalid_request")
        expect(Features.mails.some((mail) => mail.to.address === "nobody@example.com")).toBe(false)
      })
    )

    it.effect("goes by all owners of a tenant, and by the first of them", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const sql = yield* SqlClient.SqlClient
        const { email, id } = yield* Features.newTenant()
        yield* sql`UPDATE member SET created_at = created_at - interval '7 days 1 second' WHERE email = ${email}`
        yield* sql`INSERT INTO member (id, tenant_id, email, password_hash, first_name, last_name, role,
            email_verified_at, created_at)
          VALUES (gen_random_uuid(), ${id}, 'second@example.com', '', 'B', 'C', 'owner', now(), now())`
        yield* tenants.sweep
        expect((yield* tenants.find(id)).status).toBe("active")
      })
    )

    it.effect("suspends after seven days without it, and nobody else", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const sql = yield* SqlClient.SqlClient
        const late = yield* Features.newTenant()
        const verified = yield* Features.newTenant()
        const fresh = yield* Features.newTenant()
        yield* tenants.verifyEmail(confirming(yield* tokenFor(verified.email)), null)
        yield* sql`UPDATE member SET created_at = created_at - interval '7 days 1 second' WHERE email <> ${fresh.email}`
        yield* tenants.sweep
        const standing = (id: TenantId) =>
          Effect.map(tenants.find(id), ({ status, suspension_reason }) => [status, suspension_reason])
        expect(yield* standing(late.id)).toStrictEqual(["suspended", "email_unverified"])
        expect(yield* standing(verified.id)).toStrictEqual(["active", null])
        expect(yield* standing(fresh.id)).toStrictEqual(["active", null])
        const subjects = (email: string) =>
          Features.mails.filter(({ to }) => to.address === email).map(({ subject }) => subject)
        yield* Features.lettersSent
        expect(subjects(late.email).at(-1)).toBe("Your workspace is suspended")
        expect(subjects(verified.email)).not.toContain("Your workspace is suspended")
        yield* tenants.resendVerification(late.email)
        yield* tenants.verifyEmail(confirming(yield* tokenFor(late.email, -1)), null)
        expect(yield* standing(late.id)).toStrictEqual(["active", null])
        yield* Features.lettersSent
        expect(subjects(late.email).at(-1)).toBe("Your workspace works again")
      })
    )

    it.effect("gives a new failover secret with each URL", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const { caller, id } = yield* Features.newTenant()
        const secretOf = (body: string | null) =>
          JSON.parse(body ?? "").webhook_failover_secret_plaintext as string | null
        const one = secretOf((yield* tenants.setFailoverUrl(caller, "https://example.com/a", null)).body)
        const two = secretOf((yield* tenants.setFailoverUrl(caller, "https://example.com/b", null)).body)
        expect(one ?? "").toMatch(/^whsec_/)
        expect(one).not.toBe(two)
        expect((yield* tenants.find(id)).webhook_failover_url).toBe("https://example.com/b")
        expect(secretOf((yield* tenants.setFailoverUrl(caller, null, null)).body)).toBeNull()
        expect((yield* tenants.find(id)).webhook_failover_url).toBeNull()
      })
    )
  })
})
