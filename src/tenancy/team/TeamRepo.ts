import { Effect } from "effect"
import type { InvitationId, TenantId, UserId } from "../../domain/Id.ts"
import type { Role } from "../../domain/Role.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { MemberAddress } from "../tenant/Tenant.ts"
import * as TeamView from "./TeamView.ts"

/** The data of a member that a login needs. */
interface Credentials {
  readonly id: UserId
  readonly tenantId: TenantId
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly role: string
  readonly passwordHash: string
  /** Whether the address was ever proven to be the member's. */
  readonly isVerified: boolean
}

/** An invitation that can be accepted. */
interface Invited {
  readonly id: InvitationId
  readonly tenantId: TenantId
  readonly email: string
  readonly role: Role
}

/** The id of no member. */
const nobody = "00000000-0000-0000-0000-000000000000"

/** Rows of `member` and `invitation`, and the tokens of password resets. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, column, done, first, lockTenant, some, sql, value, values } = yield* Sql.make
  const read = yield* Listing.reader
  const addresses = yield* MemberAddress.make

  const member = sql`id, email, first_name, last_name, role, status, email_verified_at IS NOT NULL AS email_verified,
    last_login_at, created_at`
  const credentials = sql`m.id, m.tenant_id, m.email, m.first_name, m.last_name, m.role, m.password_hash,
    m.email_verified_at IS NOT NULL AS is_verified`
  /** Members of closed tenants do not count. */
  const ofActive = sql`FROM member m JOIN tenant t ON t.id = m.tenant_id AND t.status <> 'closed' WHERE m.status = 'active'`
  const invitation = sql`id, email, role,
    CASE WHEN status = 'pending' AND expires_at <= now() THEN 'expired' ELSE status END AS status,
    expires_at, created_at`
  const invited = sql`i.id, i.tenant_id, i.email, i.role`
  const isOpen = (tokenHash: string, at: number) => sql`i.token_hash = ${tokenHash} AND i.status = 'pending'
    AND i.expires_at > ${timestamptz(at)} AND EXISTS (SELECT FROM tenant t WHERE t.id = i.tenant_id AND t.status <> 'closed')`

  return {
    /** Makes changes of one team and its keys wait for each other, until the end of the caller's transaction. */
    lock: lockTenant,

    tenantName: (tenantId: TenantId) =>
      Effect.map(value<string>`SELECT name FROM tenant WHERE id = ${tenantId}`, (name) => name ?? ""),

    credentials: (email: string) => first<Credentials>`SELECT ${credentials} ${ofActive} AND m.email = ${email}`,

    /**
     * The addresses from which the member has proven to be the one, since the password was chosen last; of the newest
     * `most` proofs. Null: there is no such member, which takes as long.
     */
    networks: (memberId: UserId | null, most: number) =>
      column<string>`
        WITH proof AS (
          SELECT ip, action, ordinal FROM audit
          WHERE resource_id = ${memberId ?? nobody} AND occurred_at > now() - interval '90 days'
            AND action IN ('user.logged_in', 'user.password_reset', 'user.email_verified', 'user.created')
          ORDER BY ordinal DESC LIMIT ${most}
        )
        SELECT DISTINCT ip FROM proof WHERE ip IS NOT NULL
          AND ordinal >= coalesce((SELECT max(ordinal) FROM proof WHERE action = 'user.password_reset'), 0)`,

    /** Records a login and returns the role; null when the member was disabled or has another password since. */
    loggedIn: ({ id, passwordHash }: Credentials, at: number) =>
      value<string>`
        UPDATE member SET last_login_at = ${timestamptz(at)}
        WHERE id = ${id} AND status = 'active' AND password_hash = ${passwordHash} RETURNING role`,

    insertReset: (token: {
      readonly tokenHash: string
      readonly memberId: UserId
      readonly createdAt: number
      readonly expiresAt: number
    }) =>
      done`
        INSERT INTO email_token ${values({ ...token, purpose: "reset_password" })}`,

    /** The active member who may choose a password with an unused token. */
    resetting: (hash: string, at: number) =>
      first<Credentials>`
        SELECT ${credentials} ${ofActive} AND m.id = (
          SELECT member_id FROM email_token
          WHERE token_hash = ${hash} AND purpose = 'reset_password' AND used_at IS NULL AND expires_at > ${timestamptz(at)})`,

    /** Uses up this token and all other reset tokens of the member; false when it is used already. */
    useReset: (hash: string, memberId: UserId, at: number) =>
      some`
        WITH used AS (
          UPDATE email_token SET used_at = ${timestamptz(at)}
          WHERE token_hash = ${hash} AND used_at IS NULL AND expires_at > ${timestamptz(at)} RETURNING 1
        ), others AS (
          UPDATE email_token SET used_at = ${timestamptz(at)}
          WHERE member_id = ${memberId} AND purpose = 'reset_password' AND token_hash <> ${hash} AND used_at IS NULL
            AND EXISTS (SELECT FROM used)
        )
        SELECT 1 FROM used`,

    setPassword: (memberId: UserId, passwordHash: string) =>
      some`UPDATE member SET password_hash = ${passwordHash} WHERE id = ${memberId} AND status = 'active' RETURNING 1`,

    members: (tenantId: TenantId, window: Listing.Window) =>
      read({ tenantId, columns: member, from: "member", window, item: TeamView.member }),

    find: (tenantId: TenantId, id: UserId) =>
      first<TeamView.MemberRow>`SELECT ${member} FROM member WHERE tenant_id = ${tenantId} AND id = ${id}`,

    /** Whether the tenant has another active owner. */
    hasOtherOwner: (tenantId: TenantId, id: UserId) =>
      some`
        SELECT 1 FROM member WHERE tenant_id = ${tenantId} AND id <> ${id} AND role = 'owner' AND status = 'active' LIMIT 1`,

    change: (id: UserId, to: Pick<TeamView.MemberRow, "role" | "status">) =>
      done`UPDATE member SET role = ${to.role}, status = ${to.status} WHERE id = ${id}`,

    remove: (id: UserId) =>
      Effect.andThen(done`DELETE FROM email_token WHERE member_id = ${id}`, done`DELETE FROM member WHERE id = ${id}`),

    isMember: (tenantId: TenantId, email: string) =>
      some`SELECT 1 FROM member WHERE tenant_id = ${tenantId} AND email = ${email}`,

    /** Counts the invitations that can still be accepted: all of them, and those to this address. */
    pending: (tenantId: TenantId, email: string) =>
      Effect.map(
        all<{ readonly all: number; readonly same: number }>`
          SELECT count(*) AS all, count(*) FILTER (WHERE email = ${email}) AS same FROM invitation
          WHERE tenant_id = ${tenantId} AND status = 'pending' AND expires_at > now()`,
        (rows) => rows[0] ?? { all: 0, same: 0 }
      ),

    invite: (
      row: TeamView.InvitationRow & {
        readonly tenantId: TenantId
        readonly tokenHash: string
        readonly invitedBy: UserId | null
      }
    ) =>
      done`
        INSERT INTO invitation ${values({ ...row })}`,

    invitations: (tenantId: TenantId, window: Listing.Window) =>
      read({ tenantId, columns: invitation, from: "invitation", window, item: TeamView.invitation }),

    invitation: (tenantId: TenantId, id: InvitationId) =>
      first<TeamView.InvitationRow>`SELECT ${invitation} FROM invitation WHERE tenant_id = ${tenantId} AND id = ${id}`,

    /** Returns false when it is no longer pending. */
    revoke: (tenantId: TenantId, id: InvitationId) =>
      some`
        UPDATE invitation SET status = 'revoked' WHERE tenant_id = ${tenantId} AND id = ${id} AND status = 'pending'
        RETURNING 1`,

    /** Revokes the pending invitations of this member. */
    revokeBy: (tenantId: TenantId, memberId: UserId) =>
      column<InvitationId>`
        UPDATE invitation SET status = 'revoked'
        WHERE tenant_id = ${tenantId} AND invited_by = ${memberId} AND status = 'pending' RETURNING id`,

    open: (tokenHash: string, at: number) =>
      first<Invited>`SELECT ${invited} FROM invitation i WHERE ${isOpen(tokenHash, at)}`,

    /** Uses up the token; null when it can no longer be used. */
    accept: (tokenHash: string, at: number) =>
      first<Invited>`UPDATE invitation i SET status = 'accepted' WHERE ${isOpen(tokenHash, at)} RETURNING ${invited}`,

    emailUsed: addresses.isUsed,

    /** Inserts a member whose address is verified; false when the e-mail is taken. */
    join: (row: {
      readonly id: UserId
      readonly tenantId: TenantId
      readonly email: string
      readonly passwordHash: string
      readonly firstName: string
      readonly lastName: string
      readonly role: Role
      readonly createdAt: number
    }) =>
      Effect.andThen(
        addresses.release(row.email, row.createdAt),
        some`
          INSERT INTO member ${values({ ...row, emailVerifiedAt: row.createdAt })}
          ON CONFLICT (email) WHERE address_released_at IS NULL DO NOTHING RETURNING 1`
      )
  } as const
})
