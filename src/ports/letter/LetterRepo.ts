import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId, UserId } from "../../domain/Id.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import type { Earlier, Kind } from "./LetterLimits.ts"
import type { Letter } from "./Rendering.ts"

export type Outcome = "sent" | "refused" | "expired"

interface Waiting {
  /** The address. */
  readonly to: string
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
    insert: (
      row: Waiting & {
        readonly cause: string
        readonly tenantId: TenantId | null
        readonly kind: Kind
        readonly mailbox: string
      }
    ) =>
      Effect.map(
        Effect.orDie(sql`
          INSERT INTO letter (cause, tenant_id, kind, mailbox, to_name, to_address, content, status, until, created_at)
          VALUES (${row.cause}, ${row.tenantId}, ${row.kind}, ${row.mailbox}, '', ${row.to},
            ${vault.seal(JSON.stringify(row.letter))}, 'waiting', ${timestamptz(row.untilMs)}, now())
          ON CONFLICT (cause) DO NOTHING RETURNING 1`),
        (rows) => rows.length === 1
      ),

    /** Null: the letter is done. */
    waiting: (cause: string) =>
      Effect.map(
        Effect.orDie(sql<{
          readonly address: string
          readonly content: string
          readonly untilMs: number | null
        }>`
          SELECT to_address AS address, content, until AS until_ms
          FROM letter WHERE cause = ${cause} AND status = 'waiting'`),
        ([row]): Waiting | null =>
          row === undefined
            ? null
            : {
                to: row.address,
                // The sealed text was written by `insert` above.
                letter: JSON.parse(vault.open(row.content)) as Letter,
                untilMs: row.untilMs
              }
      ),

    /** Makes posts to a mailbox, or by a workspace, wait for each other until the end of the caller's transaction. */
    lock: (mailboxOrTenant: string) =>
      Effect.orDie(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`letter ${mailboxOrTenant}`}, 0))`),

    /** The letters of this kind within `withinMs`, to the mailbox or by the tenant. */
    earlier: (asked: {
      readonly kind: Kind
      readonly mailbox: string
      readonly tenantId: TenantId | null
      readonly withinMs: number
    }) =>
      Effect.orDie(sql<Earlier>`
        SELECT (extract(epoch FROM now() - created_at) * 1000)::float8 AS age_ms,
          mailbox = ${asked.mailbox} AS is_same_mailbox,
          coalesce(tenant_id = ${asked.tenantId}, false) AS is_same_workspace
        FROM letter WHERE kind = ${asked.kind} AND (mailbox = ${asked.mailbox} OR tenant_id = ${asked.tenantId})
          AND created_at > now() - make_interval(secs => ${asked.withinMs / 1000})`),

    /** Whether an owner of the workspace has confirmed an address. */
    isConfirmed: (tenantId: TenantId) =>
      Effect.map(
        Effect.orDie(sql`
          SELECT 1 FROM member WHERE tenant_id = ${tenantId} AND role = 'owner' AND status = 'active'
            AND email_verified_at IS NOT NULL LIMIT 1`),
        (rows) => rows.length > 0
      ),

    /** The content of a letter that is done is erased. */
    end: (cause: string, outcome: Outcome, detail: string | null) =>
      Effect.orDie(sql`
        UPDATE letter SET status = ${outcome}, detail = ${detail}, content = NULL, ended_at = now()
        WHERE cause = ${cause} AND status = 'waiting'`),

    /** Active members with these roles, either all or only those with verified addresses. */
    readers: (tenantId: TenantId, roles: ReadonlyArray<string>, alsoUnverified: boolean) =>
      Effect.orDie(sql<{ readonly id: UserId; readonly to: string }>`
        SELECT id, email AS to FROM member
        WHERE tenant_id = ${tenantId} AND role = ANY (${roles}::text[]) AND status = 'active'
          AND (${alsoUnverified} OR email_verified_at IS NOT NULL)
        ORDER BY created_at, id`)
  } as const
})
