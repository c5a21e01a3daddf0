import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Features from "../../../support/service/Features.ts"
import * as Wire from "./Wire.ts"

interface SignedUp {
  readonly api_key_plaintext: string
  readonly verification_email_sent: boolean
  readonly tenant: { readonly id: string }
}

const signup = (email: string, fields: Readonly<Record<string, unknown>> = {}) =>
  Effect.map(
    Wire.post("/v1/signup", {
      email,
      password: Wire.password,
      tenant_name: "Acme",
      first_name: "Ada",
      last_name: "Lovelace",
      ...fields
    }),
    ({ json }) => json as SignedUp
  )

const invite = (key: string, email: string) => Wire.post("/v1/team/invitations", { email, role: "viewer" }, { key })

/** Invites and revokes the invitation, as often as it is let; returns the last answer. */
const inviteAgain = (key: string, emails: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    let last = null
    for (const email of emails) {
      last = yield* invite(key, email)
      const { id } = last.json as { readonly id?: string }
      if (id !== undefined) yield* Wire.ask("DELETE", `/v1/team/invitations/${id}`, { key })
    }
    return last
  })

const lettersTo = (isTo: (address: string) => boolean) =>
  Effect.gen(function* () {
    for (let round = 0; round < 10; round++) yield* Features.lettersSent
    return Features.mails.filter(({ to }) => isTo(to.address))
  })

const many = Array.from({ length: 30 }, (_, nth) => nth)

/** Makes all letters older by so many hours. */
const later = (hours: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE letter SET created_at = created_at - make_interval(hours => ${hours})`
  )

describe("letters to people who did not ask for them (guide/mail.md#limits)", () => {
  layer(Wire.served, { excludeTestServices: true })((it) => {
    it.effect("an unconfirmed workspace invites few, however often it takes invitations back", () =>
      Effect.gen(function* () {
        const { api_key_plaintext: key } = yield* signup("sender@spam.example")
        const last = yield* inviteAgain(
          key,
          many.map((nth) => `victim${nth}@many.example`)
        )
        expect([last?.status, Number(last?.headers["retry-after"]) > 80_000]).toEqual([429, true])
        expect(yield* lettersTo((address) => address.endsWith("@many.example"))).toHaveLength(10)
        yield* later(25)
        expect((yield* invite(key, "victim99@many.example")).status).toBe(201)
      })
    )

    it.effect("one mailbox gets few, under all its spellings and from all unconfirmed workspaces together", () =>
      Effect.gen(function* () {
        const { key } = yield* Wire.workspace()
        expect(
          (yield* inviteAgain(
            key,
            many.slice(0, 5).map(() => "victim@one.example")
          ))?.status
        ).toBe(429)
        expect(yield* lettersTo((address) => address === "victim@one.example")).toHaveLength(3)
        for (const nth of [1, 2, 3, 4]) {
          const { api_key_plaintext } = yield* signup(`sender${nth}@spam.example`)
          yield* inviteAgain(api_key_plaintext, ["v.i.ctim@gmail.com", `victim+${nth}@gmail.com`])
        }
        // Other test files of this worker write to others there.
        expect(yield* lettersTo((address) => /^v\.?i\.?ctim(\+\d)?@gmail\.com$/.test(address))).toHaveLength(3)
        // The letters of unconfirmed workspaces do not use up the limit of confirmed ones.
        const confirmed = yield* Wire.workspace()
        expect((yield* invite(confirmed.key, "victim@gmail.com")).status).toBe(201)
      })
    )

    it.effect(
      "an address that was signed up gets few letters to confirm it, and the workspace is made all the same",
      () =>
        Effect.gen(function* () {
          const sent = yield* Effect.forEach(many.slice(0, 6), (nth) =>
            Effect.map(signup(`lin+${nth}@signed.example`), (made) => made.verification_email_sent)
          )
          expect(sent).toEqual([true, true, true, false, false, false])
          const ask = Effect.forEach(many.slice(0, 3), () =>
            Effect.andThen(
              Wire.post("/v1/auth/verify-email/resend", { email: "lin+0@signed.example" }),
              Features.lettersSent
            )
          )
          yield* ask
          expect(yield* lettersTo((address) => address.endsWith("@signed.example"))).toHaveLength(3)
          yield* later(2)
          // Another process has forgotten its own limits, and the letters are counted all the same.
          yield* (yield* Wire.resends)("lin+3@signed.example", 4)
          expect(yield* lettersTo((address) => address.endsWith("@signed.example"))).toHaveLength(5)
          // The first links work still.
          expect(
            (yield* Wire.post("/v1/auth/verify-email", { token: Features.tokenFor("lin+0@signed.example") })).status
          ).toBe(200)
        })
    )

    it.effect("a stranger who asks for new passwords writes few letters, and one of them is always good", () =>
      Effect.gen(function* () {
        const { owner } = yield* Wire.workspace()
        Features.mails.length = 0
        const reset = yield* Wire.resets
        let hours = 0
        for (; hours < 24; hours++) {
          yield* reset(owner.email, 3)
          yield* later(1)
        }
        const letters = yield* lettersTo((address) => address === owner.email)
        expect(letters.length).toBeGreaterThan(9)
        expect(letters.length).toBeLessThan(13)
        // When the limit is reached, a letter is due within four hours.
        yield* later(4)
        yield* reset(owner.email, 3)
        const token = yield* Wire.letterTo(owner.email)
        const confirmed = yield* Wire.post("/v1/auth/password-reset/confirm", { token, new_password: Wire.password })
        expect(confirmed.status).toBe(200)
      })
    )

    it.effect("one workspace has few resets written, and each of its mailboxes gets one all the same", () =>
      Effect.gen(function* () {
        const { tenantId } = yield* Wire.workspace()
        const sql = yield* SqlClient.SqlClient
        const address = (nth: number) => `member${nth}@crowd.example`
        const people = Array.from({ length: 40 }, (_, nth) => nth)
        yield* sql`
          INSERT INTO member (id, tenant_id, email, email_verified_at, role, password_hash, first_name, last_name, created_at)
          SELECT gen_random_uuid(), ${tenantId}, 'member' || n || '@crowd.example', now(), 'viewer', '', 'A', 'B', now()
          FROM generate_series(0, 39) AS n`
        const reset = yield* Wire.resets
        yield* Effect.forEach(people.slice(0, 10), (nth) => reset(address(nth), 3))
        expect(yield* lettersTo((to) => to.endsWith("@crowd.example"))).toHaveLength(30)
        yield* Effect.forEach(people, (nth) => reset(address(nth), 3))
        const letters = yield* lettersTo((to) => to.endsWith("@crowd.example"))
        const counts = people.map((nth) => letters.filter(({ to }) => to.address === address(nth)).length)
        expect(counts).toEqual(people.map((nth) => (nth < 10 ? 3 : 1)))
        // Another workspace has a limit of its own.
        const other = yield* Wire.workspace()
        const before = (yield* lettersTo((to) => to === other.owner.email)).length
        yield* reset(other.owner.email, 3)
        expect((yield* lettersTo((to) => to === other.owner.email)).length - before).toBe(3)
      })
    )

    it.effect("carry no name of a stranger in a header, and nothing that looks like a link", () =>
      Effect.gen(function* () {
        // The dots are U+A4F8, U+A78F, U+2024, U+3002, U+1427 and U+4E36.
        const names = [
          "evil\ua4f8com",
          "evil\ua78fcom",
          "evil\u2024com",
          "evil\u3002com",
          "evil\u1427com",
          "evil\u4e36com"
        ]
        for (const [nth, name] of [...names, "Win Free Money"].entries()) {
          const email = `named${nth}@mail.example`
          const { api_key_plaintext: key } = yield* signup(email, {
            tenant_name: name,
            first_name: name,
            last_name: name
          })
          yield* invite(key, `guest${nth}@mail.example`)
          yield* (yield* Wire.resets)(email, 1)
        }
        const letters = yield* lettersTo((address) => address.endsWith("@mail.example"))
        expect(letters).toHaveLength(3 * 7)
        for (const { html, subject, text, to } of letters) {
          expect(Object.keys(to)).toEqual(["address"])
          for (const name of names) expect(`${subject} ${text} ${html}`).not.toContain(name)
          if (!subject.startsWith("You are invited")) expect(`${subject} ${text} ${html}`).not.toContain("Win Free")
        }
      })
    )
  })
})
