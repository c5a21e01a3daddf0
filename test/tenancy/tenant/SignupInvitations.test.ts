import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Tenants } from "../../../src/tenancy/tenant/Tenant.ts"
import * as Features from "../../support/service/Features.ts"

const signUp = (email: string, invitationToken: string | null = null) =>
  Effect.flatMap(Tenants, (tenants) =>
    tenants.signup(Features.request({ email, invitationToken }), "192.0.2.1", null)
  ).pipe(
    Effect.match({
      onFailure: ({ code, param }) => [code, param ?? null],
      onSuccess: ({ status }) => [status, null]
    })
  )

const tokenOf = ({ url }: { readonly url: string }) => url.split("#")[1] ?? ""
const invite = (email: string) => Effect.flatMap(Tenants, (tenants) => tenants.inviteSignup(email))
const tenantCount = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM tenant`
  return row?.n
})

describe("who may sign up (guide/tenants.md#who-may-sign-up)", () => {
  layer(Features.signingUp("closed"), { excludeTestServices: true })("closed", (it) => {
    it.effect("refuses everybody, with an invitation too, and makes nothing", () =>
      Effect.gen(function* () {
        expect(yield* signUp("a@example.com")).toEqual(["forbidden", null])
        const invited = yield* invite("a@example.com")
        expect(yield* signUp("a@example.com", tokenOf(invited))).toEqual(["forbidden", null])
        expect(yield* tenantCount).toBe(0)
      })
    )
  })

  layer(Features.signingUp("invited"), { excludeTestServices: true })("by invitation", (it) => {
    const refused = ["invalid_request", "invitation_token"]

    it.effect("refuses visitors without an invitation", () =>
      Effect.gen(function* () {
        expect(yield* signUp("stranger@example.com")).toEqual(["forbidden", "invitation_token"])
        expect(yield* signUp("stranger@example.com", "guessed")).toEqual(refused)
      })
    )

    it.effect("lets the invited address in, once, by the link of its letter, and remembers its tenant", () =>
      Effect.gen(function* () {
        const invited = yield* invite("Ada@Example.com")
        expect(invited).toMatchObject({ email: "ada@example.com", status: "pending", tenant_id: null })
        yield* Features.lettersSent
        const token = Features.tokenFor("ada@example.com") ?? ""
        expect(invited.url).toBe(`http://localhost:8080/signup#${token}`)
        expect(yield* signUp("eve@example.com", token)).toEqual(refused)
        expect(yield* signUp("ada@example.com", token)).toEqual([201, null])
        expect(yield* signUp("ada2@example.com", token)).toEqual(refused)
        const sql = yield* SqlClient.SqlClient
        const [member] = yield* sql<{ readonly tenant: string }>`
          SELECT tenant_id AS tenant FROM member WHERE email = 'ada@example.com'`
        const [listed] = yield* (yield* Tenants).signupInvitations
        expect(listed).toMatchObject({ id: invited.id, status: "accepted", tenant_id: member?.tenant })
        const again = yield* Effect.flip(invite("ada@example.com"))
        expect(again.code).toBe("conflict")
      })
    )

    it.effect("of many requests at once with one invitation, one signs up", () =>
      Effect.gen(function* () {
        const token = tokenOf(yield* invite("many@example.com"))
        const answers = yield* Effect.forEach(
          Array.from({ length: 8 }, () => "many@example.com"),
          (email) => signUp(email, token),
          { concurrency: "unbounded" }
        )
        expect(answers.filter(([status]) => status === 201)).toHaveLength(1)
      })
    )

    it.effect("no invitation works that was revoked, replaced by a newer one, or has expired", () =>
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const sql = yield* SqlClient.SqlClient
        const first = yield* invite("late@example.com")
        const second = yield* invite("late@example.com")
        expect(yield* signUp("late@example.com", tokenOf(first))).toEqual(refused)
        expect(yield* tenants.revokeSignup(second.id)).toMatchObject({ status: "revoked" })
        expect(yield* signUp("late@example.com", tokenOf(second))).toEqual(refused)
        const third = yield* invite("late@example.com")
        yield* sql`UPDATE signup_invitation SET expires_at = now() - interval '1 second' WHERE id = ${third.id}`
        expect(yield* signUp("late@example.com", tokenOf(third))).toEqual(refused)
        const listed = (yield* tenants.signupInvitations).filter(({ email }) => email === "late@example.com")
        expect(listed.map(({ status }) => status)).toEqual(["expired", "revoked", "revoked"])
        expect(
          yield* sql`SELECT action FROM audit WHERE actor_type = 'operator' AND resource_id = ${second.id} ORDER BY action`
        ).toEqual([{ action: "signup_invitation.created" }, { action: "signup_invitation.revoked" }])
      })
    )

    it.effect("no token is stored", () =>
      Effect.gen(function* () {
        const token = tokenOf(yield* invite("hash@example.com"))
        yield* Features.lettersSent
        const sql = yield* SqlClient.SqlClient
        const found = yield* sql`
          SELECT 1 FROM signup_invitation i WHERE i::text LIKE ${`%${token}%`}
          UNION ALL SELECT 1 FROM audit a WHERE a::text LIKE ${`%${token}%`}`
        expect(found).toEqual([])
      })
    )
  })
})
