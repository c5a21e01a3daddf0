import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as EmailAddress from "../../../domain/EmailAddress.ts"

/**
 * Addresses were kept in lower case only; now in the one spelling that `domain/EmailAddress.ts` makes of them. Of two
 * members whose addresses are one, the first keeps it, and the other keeps the spelling that it has.
 */
export const canonicalEmail = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  const members = yield* sql<{ readonly id: string; readonly email: string }>`
    SELECT id::text AS id, email FROM member WHERE email ~ '[^[:ascii:]]' ORDER BY created_at, id`
  for (const { email, id } of members) {
    const canonical = EmailAddress.canonical(email)
    yield* sql`
      UPDATE member SET email = ${canonical}
      WHERE id = ${id}::uuid AND email <> ${canonical} AND NOT EXISTS (SELECT 1 FROM member WHERE email = ${canonical})`
  }
  const invitations = yield* sql<{ readonly email: string }>`
    SELECT DISTINCT email FROM invitation WHERE email ~ '[^[:ascii:]]'`
  for (const { email } of invitations)
    yield* sql`UPDATE invitation SET email = ${EmailAddress.canonical(email)} WHERE email = ${email}`
})
