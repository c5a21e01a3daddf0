import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId, UserId } from "../../domain/Id.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import type { Mailbox } from "../mail/Mail.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import type { Letter } from "./Rendering.ts"

export type Outcome = "sent" | "refused" | "expired"

interface Waiting {
  readonly to: Mailbox
  readonly letter: Letter
  /** Epoch milliseconds; null: the letter is always of use. */
  readonly untilMs: number | null
}

/** Reads and writes rows of `letter`, the outbox. The content of a letter is sealed. Failed statements die. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault

  return {
    /** False: this cause was posted before. */
    insert: (row: Waiting & { readonly cause: string; readonly tenantId: TenantId | null }) =>
      Effect.map(
        Effect.orDie(sql`
          INSERT INTO letter (cause, tenant_id, to_name, to_address, content, status, until, created_at)
          VALUES (${row.cause}, ${row.tenantId}, ${row.to.name}, ${row.to.address}, ${vault.seal(JSON.stringify(row.letter))},
            'waiting', ${timestamptz(row.untilMs)}, now())
          ON CONFLICT (cause) DO NOTHING RETURNING 1`),
        (rows) => rows.length === 1
      ),

    /** Null: the letter is done. */
    waiting: (cause: string) =>
      Effect.map(
        Effect.orDie(sql<{
          readonly name: string
          readonly address: string
          readonly content: string
          readonly untilMs: number | null
        }>`
          SELECT to_name AS name, to_address AS address, content, until AS until_ms
          FROM letter WHERE cause = ${cause} AND status = 'waiting'`),
        ([row]): Waiting | null =>
          row === undefined
            ? null
            : {
                to: { name: row.name, address: row.address },
                // The sealed text was written by `insert` above.
                letter: JSON.parse(vault.open(row.content)) as Letter,
                untilMs: row.untilMs
              }
      ),

    /** The content of a letter that is done is erased. */
    end: (cause: string, outcome: Outcome, detail: string | null) =>
      Effect.orDie(sql`
        UPDATE letter SET status = ${outcome}, detail = ${detail}, content = NULL, ended_at = now()
        WHERE cause = ${cause} AND status = 'waiting'`),

    /** Active members with these roles, either all or only those with verified addresses. */
    readers: (tenantId: TenantId, roles: ReadonlyArray<string>, alsoUnverified: boolean) =>
      Effect.orDie(sql<Mailbox & { readonly id: UserId }>`
        SELECT id, first_name || ' ' || last_name AS name, email AS address FROM member
        WHERE tenant_id = ${tenantId} AND role = ANY (${roles}::text[]) AND status = 'active'
          AND (${alsoUnverified} OR email_verified_at IS NOT NULL)
        ORDER BY created_at, id`)
  } as const
})
