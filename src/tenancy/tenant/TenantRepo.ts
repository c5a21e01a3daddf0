import { Effect } from "effect"
import type { InvitationId, TenantId, UserId } from "../../domain/Id.ts"
import * as MemberAddress from "./MemberAddress.ts"
import * as Password from "./Password.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import type { TenantRow } from "./TenantView.ts"

interface NewTenantRow {
  readonly id: TenantId
  readonly name: string
  readonly legalName: string | null
  readonly country: string | null
  readonly companySize: string | null
  readonly industry: string | null
  readonly useCase: string | null
  readonly webhookFailoverUrl: string | null
  /** The secret is sealed. */
  readonly webhookFailoverSecret: string | null
  readonly createdAt: number
}

interface OwnerRow {
  readonly id: UserId
  readonly tenantId: TenantId
  readonly email: string
  readonly passwordHash: string
  readonly firstName: string
  readonly lastName: string
  readonly createdAt: number
}

/** A member with an address to verify. */
export interface Unverified {
  readonly id: UserId
  readonly tenantId: TenantId
  readonly email: string
  readonly firstName: string
  readonly lastName: string
}

/** Rows of `tenant`, `member`, `invitation` and `email_token`. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, column, done, first, lockTenant, some, sql, value, values } = yield* Sql.make
  const addresses = yield* MemberAddress.make
  const columns = sql`id, name, slug, status, suspension_reason, webhook_failover_url, created_at, updated_at`

  const tryInsert = (row: NewTenantRow, slug: string) =>
    some`
      INSERT INTO tenant ${values({ ...row, slug, status: "active", updatedAt: row.createdAt })}
      ON CONFLICT (slug) DO NOTHING RETURNING 1`

  return {
    /** Inserts under the first free slug of `slug`, `slug-2`, `slug-3` …, after any signup that takes the same one. */
    insert: Effect.fn("TenantRepo.insert")(function* (row: NewTenantRow, slug: string) {
      let candidate = slug
      while (!(yield* tryInsert(row, candidate))) {
        const [free] = yield* all<{ readonly slug: string }>`
          SELECT ${slug}::text || '-' || n AS slug FROM generate_series(2, 1000000) AS n
          WHERE NOT EXISTS (SELECT 1 FROM tenant t WHERE t.slug = ${slug}::text || '-' || n) LIMIT 1`
        if (free === undefined) return yield* Effect.die(new Error(`no free slug for ${slug}`))
        candidate = free.slug
      }
    }),

    /** Returns false when the e-mail is taken. */
    insertOwner: (row: OwnerRow) =>
      Effect.andThen(
        addresses.release(row.email, row.createdAt),
        some`
          INSERT INTO member ${values({ ...row, role: "owner" })}
          ON CONFLICT (email) WHERE address_released_at IS NULL DO NOTHING RETURNING 1`
      ),

    emailUsed: addresses.isUsed,

    find: (id: TenantId) => first<TenantRow>`SELECT ${columns} FROM tenant WHERE id = ${id}`,

    /** Finds a tenant by id or slug, as operators name it. */
    findByReference: (reference: string) =>
      first<TenantRow>`
        SELECT ${columns} FROM tenant WHERE id::text = ${reference} OR slug = ${reference} ORDER BY slug = ${reference} LIMIT 1`,

    list: (window: { readonly limit: number; readonly offset: number }) =>
      all<TenantRow>`
        SELECT ${columns} FROM tenant ORDER BY created_at DESC, id LIMIT ${window.limit} OFFSET ${window.offset}`,

    setFailover: (id: TenantId, url: string | null, sealedSecret: string | null, at: number) =>
      done`
        UPDATE tenant SET webhook_failover_url = ${url}, webhook_failover_secret = ${sealedSecret},
          updated_at = ${timestamptz(at)}
        WHERE id = ${id}`,

    /** Makes changes of one team and its keys wait for each other, until the end of the caller's transaction. */
    lock: lockTenant,

    /** Confirms the member's address, and uses up the links that would; false when it was confirmed before. */
    prove: (memberId: UserId, at: number) =>
      some`
        WITH proven AS (
          UPDATE member SET email_verified_at = ${timestamptz(at)}
          WHERE id = ${memberId} AND email_verified_at IS NULL RETURNING id
        ), links AS (
          UPDATE email_token t SET used_at = ${timestamptz(at)} FROM proven
          WHERE t.member_id = proven.id AND t.purpose = 'verify_email' AND t.used_at IS NULL
        )
        SELECT 1 FROM proven`,

    isOwner: (memberId: UserId) => some`SELECT FROM member WHERE id = ${memberId} AND role = 'owner'`,

    /** Makes the member the only active one. Returns the members that were disabled. */
    leaveAlone: (id: TenantId, memberId: UserId) =>
      column<UserId>`
        UPDATE member SET status = 'disabled' WHERE tenant_id = ${id} AND id <> ${memberId} AND status = 'active'
        RETURNING id`,

    /** Leaves the member without a password. */
    endPassword: (memberId: UserId) =>
      done`UPDATE member SET password_hash = ${Password.nobodys} WHERE id = ${memberId}`,

    /** Revokes all pending invitations. */
    revokeInvitations: (id: TenantId) =>
      column<InvitationId>`
        UPDATE invitation SET status = 'revoked' WHERE tenant_id = ${id} AND status = 'pending' RETURNING id`,

    /** Revokes the pending invitations of this member. */
    revokeInvitationsBy: (id: TenantId, memberId: UserId) =>
      column<InvitationId>`
        UPDATE invitation SET status = 'revoked'
        WHERE tenant_id = ${id} AND invited_by = ${memberId} AND status = 'pending' RETURNING id`,

    /** Removes the failover URL and returns it; null: there was none. */
    endFailover: (id: TenantId, at: number) =>
      value<string>`
        WITH before AS (SELECT webhook_failover_url AS url FROM tenant WHERE id = ${id})
        UPDATE tenant SET webhook_failover_url = NULL, webhook_failover_secret = NULL, updated_at = ${timestamptz(at)}
        WHERE id = ${id} AND webhook_failover_url IS NOT NULL RETURNING (SELECT url FROM before)`,

    insertToken: (token: {
      readonly tokenHash: string
      readonly memberId: UserId
      readonly createdAt: number
      readonly expiresAt: number
    }) =>
      done`
        INSERT INTO email_token ${values({ ...token, purpose: "verify_email" })}`,

    /** The tenant of the owner of a token that is not used up. */
    verifying: (hash: string) =>
      value<TenantId>`
        SELECT m.tenant_id FROM member m JOIN email_token t ON t.member_id = m.id
        WHERE t.token_hash = ${hash} AND t.purpose = 'verify_email' AND t.used_at IS NULL`,

    /**
     * Uses up a live token and its owner's other tokens, and verifies the owner; null without such a token. The tokens
     * of a closed tenant are dead, because its address may be another's by now, and so are those of a disabled member.
     */
    useToken: (hash: string, at: number) =>
      first<{
        readonly memberId: UserId
        readonly tenantId: TenantId
        readonly email: string
        readonly name: string
      }>`
        WITH used AS (
          UPDATE email_token u SET used_at = ${timestamptz(at)} FROM member o
          JOIN tenant ON tenant.id = o.tenant_id AND tenant.status <> 'closed'
          WHERE o.id = u.member_id AND o.status = 'active' AND u.token_hash = ${hash} AND u.purpose = 'verify_email' AND u.used_at IS NULL
            AND u.expires_at > ${timestamptz(at)}
          RETURNING u.member_id
        ), others AS (
          UPDATE email_token t SET used_at = ${timestamptz(at)} FROM used
          WHERE t.member_id = used.member_id AND t.token_hash <> ${hash} AND t.used_at IS NULL
        )
        UPDATE member m SET email_verified_at = coalesce(m.email_verified_at, ${timestamptz(at)}) FROM used
        WHERE m.id = used.member_id RETURNING m.id AS member_id, m.tenant_id, m.email,
          m.first_name || ' ' || m.last_name AS name`,

    unverified: (email: string) =>
      first<Unverified>`
        SELECT m.id, m.tenant_id, m.email, m.first_name, m.last_name
        FROM member m JOIN tenant t ON t.id = m.tenant_id AND t.status <> 'closed'
        WHERE m.email = ${email} AND m.status = 'active' AND m.email_verified_at IS NULL`,

    /** Active tenants whose first owner was added before `before`, and none of whose owners has verified. */
    overdue: (before: number) =>
      column<TenantId>`
        SELECT t.id FROM tenant t JOIN member m ON m.tenant_id = t.id AND m.role = 'owner'
        WHERE t.status = 'active' GROUP BY t.id
        HAVING bool_and(m.email_verified_at IS NULL) AND min(m.created_at) < ${timestamptz(before)}
        ORDER BY t.id`,

    /** Tenants that are suspended although their owner has verified: a process died between the two commits. */
    verifiedButSuspended: column<TenantId>`
      SELECT DISTINCT t.id FROM tenant t JOIN member m ON m.tenant_id = t.id AND m.role = 'owner'
      WHERE t.status = 'suspended' AND t.suspension_reason = 'email_unverified' AND m.email_verified_at IS NOT NULL`,

    deleteExpiredTokens: (before: number) => done`DELETE FROM email_token WHERE expires_at < ${timestamptz(before)}`
  }
})
