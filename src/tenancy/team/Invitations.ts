import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as EmailAddress from "../../domain/EmailAddress.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import type { Role } from "../../domain/Role.ts"
import { receipt, type Rendered, type Slot } from "../../runtime/idempotency/Slot.ts"
import * as Letters from "../../ports/letter/Letter.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import { Passwords } from "../tenant/Tenant.ts"
import * as Authority from "./Authority.ts"
import * as TeamRepo from "./TeamRepo.ts"
import * as TeamView from "./TeamView.ts"
import * as Token from "./Token.ts"

const lifetimeMs = 7 * 24 * 3_600_000
/** The most pending invitations of one workspace. */
const pendingLimit = 100

export interface Acceptance {
  readonly token: string
  readonly password: string
  readonly firstName: string
  readonly lastName: string
}

const unusable = ApiError.of("invalid_request", "the token is unknown, used, revoked or expired", "token")
const emailUsed = ApiError.of("conflict", "this e-mail address has an account already")
const notFound = ApiError.of("not_found", "no such invitation")
const tooMany = (retryAfterSecs: number) =>
  ApiError.later(
    retryAfterSecs,
    `too many invitations were sent by this workspace, or to this address; try again in ${retryAfterSecs} s`,
    "email"
  )

/**
 * Invitations to a team, guide/team.md#invitations: bound to an address, valid once and for seven days.
 *
 * The inviting member does not learn whether an address has an account elsewhere. Only the holder of the token does,
 * who can read the mail of that address.
 */
export const make = Effect.fnUntraced(function* ({ baseUrl }: { readonly baseUrl: string }) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const letters = yield* Letters.Letters
  const passwords = yield* Passwords
  const repo = yield* TeamRepo.make

  const letterOf = (invited: { readonly tenantName: string; readonly by: string | null; readonly token: string }) => {
    const team = Letters.nameOf(invited.tenantName) ?? "a workspace"
    const by = invited.by === null ? null : Letters.nameOf(invited.by)
    return {
      subject: `You are invited to ${team}`,
      paragraphs: [
        "Hello,",
        `${by ?? "a member"} invites you to join ${team}. The link works once, for seven days.`,
        "If you do not know why, ignore this message: nothing happens."
      ],
      link: { label: "Join the team", url: `${baseUrl}/accept-invitation#${invited.token}` }
    }
  }

  const invite = Effect.fn("Invitations.invite")(function* (
    caller: Audit.Caller,
    request: { readonly email: string; readonly role: Role },
    slot: Slot | null
  ) {
    const { member, tenantId } = caller
    const email = EmailAddress.canonical(request.email)
    return yield* Effect.gen(function* () {
      yield* repo.lock(tenantId)
      yield* Authority.covers(yield* Authority.of(repo, caller), request.role, "role")
      if (yield* repo.isMember(tenantId, email))
        return yield* ApiError.of("conflict", "this address is a member's already", "email")
      const pending = yield* repo.pending(tenantId, email)
      if (pending.same > 0) return yield* ApiError.of("conflict", "this address has a pending invitation", "email")
      if (pending.all >= pendingLimit)
        return yield* ApiError.of("conflict", `${pendingLimit} invitations are pending already`)
      const at = yield* Clock.currentTimeMillis
      const seed = entropy.hex(16)
      const token = Token.make(entropy.bytes(32))
      const expiresAt = at + lifetimeMs
      const row = {
        id: Id.deriveUuid(seed, "invitation"),
        email,
        role: request.role,
        status: "pending",
        expiresAt,
        createdAt: at
      } as const
      yield* repo.invite({ ...row, tenantId, tokenHash: Token.hashOf(token), invitedBy: member?.id ?? null })
      yield* letters
        .askWithin({
          kind: "invitation",
          cause: `invitation:${row.id}`,
          tenantId,
          to: email,
          letter: letterOf({ tenantName: yield* repo.tenantName(tenantId), by: member?.name ?? null, token }),
          untilMs: expiresAt
        })
        .pipe(Effect.catchTag("LetterLimited", ({ retryAfterSecs }) => Effect.fail(tooMany(retryAfterSecs))))
      const rendered: Rendered = { status: 201, body: JSON.stringify(TeamView.invitation(row)) }
      const line = Audit.line({
        ...Audit.of(caller),
        at,
        seed,
        action: "invitation.created",
        resourceId: row.id,
        changes: [
          { field: "email", from: null, to: email },
          { field: "role", from: null, to: row.role }
        ]
      })
      yield* journal.commitWithin({ ...empty, audit: [line], receipt: receipt(slot, rendered, at) })
      return rendered
    }).pipe(transaction)
  }, Effect.uninterruptible)

  const find = Effect.fn("Invitations.find")(function* (tenantId: Id.TenantId, id: Id.InvitationId) {
    const row = Id.isUuid(id) ? yield* repo.invitation(tenantId, id) : null
    return row === null ? yield* notFound : TeamView.invitation(row)
  })

  const revoke = Effect.fn("Invitations.revoke")(function* (
    caller: Audit.Caller,
    id: Id.InvitationId,
    slot: Slot | null
  ) {
    const { tenantId } = caller
    return yield* Effect.gen(function* () {
      yield* repo.lock(tenantId)
      const actor = yield* Authority.of(repo, caller)
      const { role, status } = yield* find(tenantId, id)
      yield* Authority.covers(actor, role, undefined)
      if (status === "accepted") return yield* ApiError.of("conflict", "the invitation was accepted; remove the member")
      const at = yield* Clock.currentTimeMillis
      const rendered: Rendered = { status: 204, body: null }
      const line = Audit.line({
        ...Audit.of(caller),
        at,
        seed: entropy.hex(16),
        action: "invitation.revoked",
        resourceId: id
      })
      const first = yield* repo.revoke(tenantId, id)
      yield* journal.commitWithin({ ...empty, audit: first ? [line] : [], receipt: receipt(slot, rendered, at) })
      return rendered
    }).pipe(transaction)
  }, Effect.uninterruptible)

  const accept = Effect.fn("Invitations.accept")(function* (request: Acceptance, ip: string | null) {
    const hash = Token.hashOf(request.token)
    // When many requests have one token, none is hashed for after the first has succeeded.
    const check = Effect.gen(function* () {
      const invited = yield* repo.open(hash, yield* Clock.currentTimeMillis)
      if (invited === null) return yield* unusable
      return (yield* repo.emailUsed(invited.email)) ? yield* emailUsed : invited.tenantId
    })
    const tenantId = yield* check
    const passwordHash = yield* passwords.hash(request.password, ip, check)
    const at = yield* Clock.currentTimeMillis
    const seed = entropy.hex(16)
    const { firstName, lastName } = request
    return yield* Effect.gen(function* () {
      // The end of all access sees this member then, or has revoked the invitation.
      yield* repo.lock(tenantId)
      const invited = yield* repo.accept(hash, at)
      if (invited === null) return yield* unusable
      const { email, role } = invited
      const id = Id.deriveUuid(seed, "member")
      const joined = yield* repo.join({ id, tenantId, email, role, passwordHash, firstName, lastName, createdAt: at })
      if (!joined) return yield* emailUsed
      const by = { tenantId, at, seed, ip, actor: { type: "user", id, name: `${firstName} ${lastName}` } } as const
      yield* journal.commitWithin({
        ...empty,
        audit: [
          Audit.line({ ...by, action: "invitation.accepted", resourceId: invited.id }),
          Audit.line({
            ...by,
            action: "user.created",
            resourceId: id,
            changes: [{ field: "role", from: null, to: role }]
          })
        ]
      })
      const row = { id, email, firstName, lastName, role, status: "active" } as const
      const body = TeamView.member({ ...row, emailVerified: true, lastLoginAt: null, createdAt: at })
      return { status: 201, body: JSON.stringify(body) } satisfies Rendered
    }).pipe(transaction, Effect.uninterruptible)
  })

  return { invite, find, revoke, accept }
})
