import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import { ApiKeys } from "../apikey/ApiKey.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../runtime/idempotency/Slot.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { type AuditRow, empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Authority from "./Authority.ts"
import * as TeamRepo from "./TeamRepo.ts"
import * as TeamView from "./TeamView.ts"

/** At least one of them is given. */
export type MemberChange = Partial<Pick<TeamView.MemberRow, "role" | "status">>

const notFound = ApiError.of("not_found", "no such member")
const unconfirmed = ApiError.of("conflict", "this member has not confirmed the address yet, and can only be removed")
const lastOwner = ApiError.of("conflict", "the last owner of a workspace stays an active owner")

/**
 * Changes members, guide/team.md#members. The changes of one team run one after the other, each on the result of the
 * one before: of two owners who remove each other, one stays.
 */
export const make = Effect.gen(function* () {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const apiKeys = yield* ApiKeys
  const repo = yield* TeamRepo.make

  /** Ends the member's keys and invitations, and returns the audit lines. */
  const endOf = Effect.fnUntraced(function* (
    member: { readonly id: Id.UserId; readonly tenantId: Id.TenantId },
    which: "keys and invitations" | "invitations",
    by: Pick<AuditRow, "actor" | "ip" | "at"> & { readonly seed: string }
  ) {
    const { tenantId } = member
    const keys = which === "invitations" ? [] : yield* apiKeys.revokeOfWithin(member, "all", by.at)
    const invitations = yield* repo.revokeBy(tenantId, member.id)
    return [
      ...keys.map((id) => Audit.line({ ...by, tenantId, action: "api_key.revoked", resourceId: id })),
      ...invitations.map((id) => Audit.line({ ...by, tenantId, action: "invitation.revoked", resourceId: id }))
    ]
  })

  /** Runs under the lock of the team. `to` null removes the member. */
  const settle = (caller: Audit.Caller, id: Id.UserId, to: MemberChange | null, slot: Slot | null) =>
    Effect.gen(function* () {
      const { ip, tenantId } = caller
      yield* repo.lock(tenantId)
      const actor = yield* Authority.of(repo, caller)
      const before = Id.isUuid(id) ? yield* repo.find(tenantId, id) : null
      if (before === null) return yield* notFound
      const after = to === null ? null : { ...before, ...to }
      yield* Authority.covers(actor, before.role, undefined)
      if (after !== null) yield* Authority.covers(actor, after.role, "role")
      const stays = after !== null && after.role === "owner" && after.status === "active"
      if (!stays && before.role === "owner" && before.status === "active" && !(yield* repo.hasOtherOwner(tenantId, id)))
        return yield* lastOwner
      // An address is not kept from its owner, who may prove it later.
      if (!stays && after !== null && !before.emailVerified) return yield* unconfirmed
      const at = yield* Clock.currentTimeMillis
      const by = { at, seed: entropy.hex(16), actor: Audit.keyOf(caller), ip }
      const changes = (["role", "status"] as const).flatMap((field) =>
        after === null || after[field] === before[field] ? [] : [{ field, from: before[field], to: after[field] }]
      )
      const isOver = after === null || after.status === "disabled"
      const ended =
        isOver || changes.length > 0
          ? yield* endOf({ id, tenantId }, isOver ? "keys and invitations" : "invitations", by)
          : []
      if (after === null) yield* repo.remove(id)
      else if (changes.length > 0) yield* repo.change(id, after)
      const rendered: Rendered =
        after === null ? { status: 204, body: null } : { status: 200, body: JSON.stringify(TeamView.member(after)) }
      const action = after === null ? "user.removed" : "user.updated"
      const line = Audit.line({ ...by, tenantId, action, resourceId: id, changes })
      yield* journal.commitWithin({
        ...empty,
        audit: after !== null && changes.length === 0 ? [] : [line, ...ended],
        receipt: receipt(slot, rendered, at)
      })
      return rendered
    }).pipe(
      transaction,
      // Runs even if the answer of the commit was lost.
      Effect.ensuring(apiKeys.memberChanged(id)),
      Effect.uninterruptible
    )

  return {
    change: (caller: Audit.Caller, id: Id.UserId, to: MemberChange, slot: Slot | null) => settle(caller, id, to, slot),
    remove: (caller: Audit.Caller, id: Id.UserId, slot: Slot | null) => settle(caller, id, null, slot)
  } as const
})
