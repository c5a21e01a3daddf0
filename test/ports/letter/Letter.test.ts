import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import { Letters } from "../../../src/ports/letter/Letter.ts"
import { Mail, MailError, type MailMessage } from "../../../src/ports/mail/Mail.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import { Vault } from "../../../src/runtime/store/vault/Vault.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as Ids from "../../support/Ids.ts"

const taken: Array<MailMessage> = []
/** The transport's answers to the next letters, in order; after these it takes every letter. */
const answers: Array<"lost" | "refused" | "taken, unanswered"> = []

const transport = Layer.succeed(Mail, {
  isReal: true,
  send: (message) =>
    Effect.gen(function* () {
      const answer = answers.shift()
      if (answer !== "lost" && answer !== "refused") taken.push(message)
      if (answer !== undefined) return yield* new MailError({ detail: answer, retryable: answer !== "refused" })
    })
})

const letters = Letters.layer({ baseUrl: "https://phone.example/api" }).pipe(
  Layer.provideMerge(transport),
  Layer.provideMerge(Jobs.layer()),
  Layer.provideMerge(JournalWriter.layer({ partitions: [0], onLost: () => {} })),
  Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32).fill(7)))),
  Layer.provideMerge(Entropy.layerFixed("letters")),
  Layer.provideMerge(TestDatabase.layer),
  Layer.orDie
)

const post = (cause: string, untilMs?: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { postWithin } = yield* Letters
    yield* sql.withTransaction(
      postWithin({
        cause,
        tenantId: null,
        to: "ada@example.com",
        letter: { subject: cause, paragraphs: ["secret-token"], link: null },
        ...(untilMs === undefined ? {} : { untilMs })
      })
    )
  })

const row = (cause: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [found] = yield* sql<{
      readonly status: string
      readonly content: string | null
      readonly detail: string | null
    }>`
      SELECT status, content, detail FROM letter WHERE cause = ${cause}`
    return found
  })

/** Makes the letters that wait for their next attempt due, and makes the attempts. */
const again = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE job SET due_at = now() WHERE kind = 'letter.sending' AND due_at IS NOT NULL`
  yield* (yield* Jobs).poll
})

describe("letters", () => {
  layer(letters, { excludeTestServices: true })((it) => {
    it.effect("wait sealed, are sent after their commit, and keep nothing of what they said", () =>
      Effect.gen(function* () {
        yield* post("one")
        const waiting = yield* row("one")
        expect(waiting?.status).toBe("waiting")
        expect(waiting?.content).toMatch(/^v1\./)
        expect(taken).toEqual([])
        yield* (yield* Jobs).poll
        expect(taken.map(({ subject, to }) => [subject, to])).toEqual([["one", { address: "ada@example.com" }]])
        expect(taken[0]?.messageId).toMatch(/^[0-9a-f]{32}@phone\.example$/)
        expect(yield* row("one")).toEqual({ status: "sent", content: null, detail: null })
      })
    )

    it.effect("are sent once for each cause, also when it comes back later", () =>
      Effect.gen(function* () {
        taken.length = 0
        yield* post("twice")
        yield* post("twice")
        yield* (yield* Jobs).poll
        yield* post("twice")
        yield* (yield* Jobs).poll
        expect(taken).toHaveLength(1)
      })
    )

    it.effect("are not there when their transaction is not", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Effect.ignore(sql.withTransaction(Effect.andThen(post("undone"), Effect.fail("undone"))))
        expect(yield* row("undone")).toBe(undefined)
      })
    )

    it.effect("are sent again while the transport is away, under the same Message-ID when their fate is unknown", () =>
      Effect.gen(function* () {
        taken.length = 0
        answers.push("lost", "taken, unanswered")
        yield* post("again")
        yield* (yield* Jobs).poll
        expect((yield* row("again"))?.status).toBe("waiting")
        yield* again
        yield* again
        yield* again
        expect(taken).toHaveLength(2)
        expect(taken[0]?.messageId).toBe(taken[1]?.messageId)
        expect((yield* row("again"))?.status).toBe("sent")
      })
    )

    it.effect("are given up when the transport refuses them for good", () =>
      Effect.gen(function* () {
        taken.length = 0
        answers.push("refused")
        yield* post("refused")
        yield* (yield* Jobs).poll
        yield* again
        expect(taken).toEqual([])
        expect(yield* row("refused")).toEqual({ status: "refused", content: null, detail: "refused" })
      })
    )

    it.effect("are not sent when they are of no use any more", () =>
      Effect.gen(function* () {
        taken.length = 0
        yield* post("late", Date.now() - 1)
        yield* (yield* Jobs).poll
        expect(taken).toEqual([])
        expect(yield* row("late")).toEqual({ status: "expired", content: null, detail: null })
      })
    )

    it.effect("go to the active, verified members whose role has to do with it", () =>
      Effect.gen(function* () {
        taken.length = 0
        const sql = yield* SqlClient.SqlClient
        const tenantId = Ids.tenant("11111111-1111-4111-8111-111111111111")
        yield* sql`INSERT INTO tenant (id, name, slug, status, created_at, updated_at)
          VALUES (${tenantId}, 'T', 't', 'active', now(), now())`
        const people = [
          ["owner", "active", true],
          ["admin", "active", true],
          ["billing", "active", true],
          ["viewer", "active", true],
          ["developer", "active", true],
          ["owner", "disabled", true],
          ["admin", "active", false]
        ] as const
        for (const [index, [role, status, isVerified]] of people.entries())
          yield* sql`INSERT INTO member (id, tenant_id, email, password_hash, first_name, last_name, role, status,
              email_verified_at, created_at)
            VALUES (gen_random_uuid(), ${tenantId}, ${`${index}@example.com`}, '', 'A', 'B', ${role}, ${status},
              ${isVerified ? new Date() : null}, now())`
        const { postToWithin } = yield* Letters
        const letter = { subject: "x", paragraphs: [], link: null }
        const to = Effect.fnUntraced(function* (audience: "billing" | "owners") {
          taken.length = 0
          yield* sql.withTransaction(postToWithin({ cause: audience, tenantId, audience, letter }))
          yield* sql.withTransaction(postToWithin({ cause: audience, tenantId, audience, letter }))
          yield* (yield* Jobs).poll
          return taken.map(({ to }) => to.address).toSorted()
        })
        expect(yield* to("billing")).toEqual(["0@example.com", "1@example.com", "2@example.com"])
        expect(yield* to("owners")).toEqual(["0@example.com", "1@example.com"])
      })
    )
  })
})
