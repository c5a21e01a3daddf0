import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import type { TenantId } from "../../../src/domain/Id.ts"
import { ApiKeys } from "../../../src/tenancy/apikey/ApiKey.ts"
import { Team } from "../../../src/tenancy/team/Team.ts"
import { Tenants } from "../../../src/tenancy/tenant/Tenant.ts"
import * as Features from "../../support/service/Features.ts"

const password = "correct horse battery"

const closed = Effect.fnUntraced(function* (id: TenantId) {
  yield* (yield* Accounts).close(id, { type: "operator", name: "operator" })
})

/** The code of a failure, or the status of an answer. */
const outcome = <A extends { readonly status: number }, E extends { readonly code: string }, R>(
  request: Effect.Effect<A, E, R>
) => Effect.match(request, { onFailure: ({ code }): string => code, onSuccess: ({ status }) => String(status) })

const signup = (email: string) =>
  Effect.flatMap(Tenants, (tenants) => outcome(tenants.signup(Features.request({ email }), null, null)))

/** The token of the newest letter to this address. */
const newestToken = (email: string) =>
  Effect.andThen(
    // The first look for jobs posts letters, and the second sends them.
    Effect.andThen(Features.lettersSent, Features.lettersSent),
    Effect.sync(() => Features.tokenFor(email) ?? "")
  )

const lettersTo = (email: string) => Features.mails.filter(({ to }) => to.address === email).length

describe("the address of a closed workspace (guide/tenants.md#closing)", () => {
  layer(Features.mailing, { excludeTestServices: true })((it) => {
    it.effect("signs up again, once, and belongs to the new workspace from then on", () =>
      Effect.gen(function* () {
        const [team, tenants, sql] = [yield* Team, yield* Tenants, yield* SqlClient.SqlClient]
        const email = "again@example.com"
        const before = yield* Features.newTenant({ email })
        yield* newestToken(email)
        expect(yield* signup(email)).toBe("conflict")
        yield* closed(before.id)
        const all = yield* Effect.all(
          Array.from({ length: 3 }, () => signup(email)),
          { concurrency: "unbounded" }
        )
        expect(all.toSorted()).toEqual(["201", "conflict", "conflict"])
        expect(yield* signup(email)).toBe("conflict")
        const rows = yield* sql<{ readonly tenant: string }>`
          SELECT tenant_id::text AS tenant FROM member WHERE email = ${email} AND address_released_at IS NULL`
        expect(rows).toHaveLength(1)
        expect(rows[0]?.tenant).not.toBe(before.id)
        // The member of the closed workspace is still in its export.
        expect(yield* sql`SELECT FROM member WHERE email = ${email} AND tenant_id = ${before.id}`).toHaveLength(1)
        const login = yield* team.login(email, password, null)
        const { api_key_plaintext } = JSON.parse(login.body ?? "") as { readonly api_key_plaintext: string }
        const { tenantId } = yield* (yield* ApiKeys).authenticate(api_key_plaintext, null)
        expect(tenantId).toBe(rows[0]?.tenant)

        // A letter and a reset are the new workspace's.
        expect(
          yield* outcome(tenants.verifyEmail({ token: yield* newestToken(email), endEarlierAccess: false }, null))
        ).toBe("200")
        expect(yield* sql`SELECT FROM member WHERE email = ${email} AND email_verified_at IS NOT NULL`).toHaveLength(1)
        yield* team.requestReset(email)
        expect(
          yield* outcome(
            team.confirmReset(
              { token: yield* newestToken(email), newPassword: `${password} 2`, endEarlierAccess: false },
              null
            )
          )
        ).toBe("200")
        expect(yield* outcome(team.login(email, `${password} 2`, null))).toBe("200")
      })
    )

    it.effect("accepts an invitation to another workspace", () =>
      Effect.gen(function* () {
        const team = yield* Team
        const email = "invited@example.com"
        const [before, other] = [yield* Features.newTenant({ email }), yield* Features.newTenant()]
        // The letter of the signup goes out before that of the invitation.
        yield* newestToken(email)
        yield* team.invite(other.caller, { email, role: "developer" }, null)
        const token = yield* newestToken(email)
        const accept = outcome(team.accept({ token, password, firstName: "Ada", lastName: "Lovelace" }, null))
        expect(yield* accept).toBe("conflict")
        yield* closed(before.id)
        expect(yield* accept).toBe("201")
        expect(yield* signup(email)).toBe("conflict")
      })
    )

    it.effect("has no use for links of the closed workspace, and gets no new ones or credit", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const email = "unverified@example.com"
        const { id } = yield* Features.newTenant({ email })
        const token = yield* newestToken(email)
        yield* closed(id)
        expect(yield* outcome(tenants.verifyEmail({ token, endEarlierAccess: false }, null))).toBe("invalid_request")
        expect((yield* (yield* Billing).balance(id)).balance_cents).toBe(0)
        // The letter about the closing goes out.
        yield* newestToken(email)
        const count = lettersTo(email)
        yield* tenants.resendVerification(email)
        yield* newestToken(email)
        expect(lettersTo(email)).toBe(count)
      })
    )
  })
})
