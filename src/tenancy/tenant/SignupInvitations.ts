import { Clock, Effect } from "effect"
import { hash } from "node:crypto"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as EmailAddress from "../../domain/EmailAddress.ts"
import * as Id from "../../domain/Id.ts"
import * as Timestamp from "../../domain/time/Timestamp.ts"
import * as Letters from "../../ports/letter/Letter.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as TenantRepo from "./TenantRepo.ts"

/** `open`: every visitor may sign up; `invited`: those whom the operator invited; `closed`: none. */
export const policies = ["open", "invited", "closed"] as const
export type SignupPolicy = (typeof policies)[number]

const lifetimeMs = 7 * 24 * 3_600_000
/** The command that lists invitations shows this many. */
const listLimit = 1_000

interface InvitationRow {
  readonly id: Id.InvitationId
  readonly email: string
  readonly status: "pending" | "accepted" | "revoked"
  readonly tenantId: Id.TenantId | null
  readonly expiresAt: number
  readonly createdAt: number
}

/** An invitation as the operator's commands show it. */
export interface SignupInvitation {
  readonly id: Id.InvitationId
  readonly email: string
  readonly status: InvitationRow["status"] | "expired"
  /** The tenant that signed up with it; null before that. */
  readonly tenant_id: Id.TenantId | null
  readonly expires_at: string
  readonly created_at: string
}

const field = "invitation_token"
const unusable = ApiError.of("invalid_request", "the invitation is unknown, used, revoked or expired", field)
const forAnother = ApiError.of("invalid_request", "the invitation is for another e-mail address", field)
const closed = ApiError.of("forbidden", "sign-up is closed on this installation")
const missing = ApiError.of("forbidden", "sign-up needs an invitation of the operator", field)

/**
 * The operator's invitations to sign up, guide/tenants.md#who-may-sign-up: bound to an address, valid once and for
 * seven days. The token is shown once, and only its hash is stored.
 */
export const make = Effect.fnUntraced(function* (options: { readonly baseUrl: string; readonly policy: SignupPolicy }) {
  const { all, done, first, sql, transaction, values } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const letters = yield* Letters.Letters
  const tenants = yield* TenantRepo.make
  const columns = sql`id, email, status, tenant_id, expires_at, created_at`

  const view = (
    { createdAt, email, expiresAt, id, status, tenantId }: InvitationRow,
    at: number
  ): SignupInvitation => ({
    id,
    email,
    status: status === "pending" && expiresAt <= at ? "expired" : status,
    tenant_id: tenantId,
    expires_at: Timestamp.format(expiresAt),
    created_at: Timestamp.format(createdAt)
  })

  const open = (token: string, at: number) =>
    first<InvitationRow>`
      SELECT ${columns} FROM signup_invitation
      WHERE token_hash = ${hashOf(token)} AND status = 'pending' AND expires_at > ${timestamptz(at)}`

  /** Fails when this address may not sign up with this token, or (null) without one. Nothing is used up. */
  const check = Effect.fnUntraced(function* (token: string | null, email: string) {
    if (options.policy === "closed") return yield* closed
    if (token === null) return options.policy === "invited" ? yield* missing : undefined
    const found = yield* open(token, yield* Clock.currentTimeMillis)
    if (found === null) return yield* unusable
    if (found.email !== email) return yield* forAnother
  })

  /** Uses the invitation up inside sign-up's transaction; of many requests at once, one gets it. */
  const useWithin = Effect.fnUntraced(function* (token: string | null, tenantId: Id.TenantId, at: number) {
    if (token === null) return
    const used = yield* first`
      UPDATE signup_invitation SET status = 'accepted', tenant_id = ${tenantId}
      WHERE token_hash = ${hashOf(token)} AND status = 'pending' AND expires_at > ${timestamptz(at)} RETURNING id`
    if (used === null) return yield* unusable
  })

  const lineOf = (what: "created" | "revoked", row: Pick<InvitationRow, "id" | "email">, at: number, seed: string) =>
    Effect.map(Audit.operator, (actor) =>
      Audit.line({
        tenantId: null,
        at,
        seed,
        actor,
        action: `signup_invitation.${what}`,
        resourceId: row.id,
        changes: what === "created" ? [{ field: "email", from: null, to: row.email }] : []
      })
    )

  const invite = Effect.fn("SignupInvitations.invite")(function* (address: string) {
    const email = EmailAddress.canonical(address)
    const at = yield* Clock.currentTimeMillis
    const seed = entropy.hex(16)
    const token = Buffer.from(entropy.bytes(32)).toString("base64url")
    const url = `${options.baseUrl}/signup#${token}`
    const row = {
      id: Id.deriveUuid(seed, "invitation"),
      email,
      status: "pending",
      tenantId: null,
      expiresAt: at + lifetimeMs,
      createdAt: at
    } as const
    return yield* Effect.gen(function* () {
      if (yield* tenants.emailUsed(email))
        return yield* ApiError.of("conflict", "this e-mail address has an account already", "email")
      // Only the newest invitation of an address works, so that a letter that went astray can be replaced.
      yield* done`UPDATE signup_invitation SET status = 'revoked' WHERE email = ${email} AND status = 'pending'`
      yield* done`INSERT INTO signup_invitation ${values({ ...row, tokenHash: hashOf(token) })}`
      yield* letters.postWithin({
        cause: `signup_invitation:${row.id}`,
        tenantId: null,
        to: email,
        letter: letterOf(url),
        untilMs: row.expiresAt
      })
      yield* journal.commitWithin({ ...empty, audit: [yield* lineOf("created", row, at, seed)] })
      return { ...view(row, at), url }
    }).pipe(transaction)
  }, Effect.uninterruptible)

  const list = Effect.fn("SignupInvitations.list")(function* () {
    const at = yield* Clock.currentTimeMillis
    const rows = yield* all<InvitationRow>`
      SELECT ${columns} FROM signup_invitation ORDER BY created_at DESC, id LIMIT ${listLimit}`
    return rows.map((row) => view(row, at))
  })

  const revoke = Effect.fn("SignupInvitations.revoke")(function* (id: Id.InvitationId) {
    const at = yield* Clock.currentTimeMillis
    return yield* Effect.gen(function* () {
      const row = yield* first<InvitationRow>`
        SELECT ${columns} FROM signup_invitation WHERE id::text = ${id} FOR UPDATE`
      if (row === null) return yield* ApiError.of("not_found", "no such invitation")
      if (row.status === "accepted") return yield* ApiError.of("conflict", "the invitation was accepted")
      if (row.status === "revoked") return view(row, at)
      yield* done`UPDATE signup_invitation SET status = 'revoked' WHERE id = ${row.id}`
      yield* journal.commitWithin({ ...empty, audit: [yield* lineOf("revoked", row, at, entropy.hex(16))] })
      return view({ ...row, status: "revoked" }, at)
    }).pipe(transaction)
  }, Effect.uninterruptible)

  return { check, useWithin, invite, list, revoke } as const
})

export type SignupInvitations = Effect.Success<ReturnType<typeof make>>

const hashOf = (token: string): string => hash("sha256", token, "hex")

const letterOf = (url: string): Letters.Letter => ({
  subject: "You are invited to sign up",
  paragraphs: [
    "Hello,",
    "you are invited to open a workspace of this voice service. The link works once, for seven days, and only for this address.",
    "If you do not know why, ignore this message: nothing happens."
  ],
  link: { label: "Sign up", url }
})
