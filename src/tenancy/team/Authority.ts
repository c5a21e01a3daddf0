import { Effect } from "effect"
import type { Caller } from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Role from "../../domain/Role.ts"
import * as Scope from "../../domain/Scope.ts"
import type * as TeamRepo from "./TeamRepo.ts"

const forbidden = ApiError.of("forbidden", "you cannot change the team any more")

/**
 * The present authority of the caller, read under the lock of the team: a member who was demoted or removed while the
 * request waited can do no more.
 */
export const of = Effect.fnUntraced(function* (
  repo: Pick<Effect.Success<typeof TeamRepo.make>, "find">,
  caller: Caller
): Effect.fn.Return<Role.Actor, ApiError> {
  if (caller.member === null) return { scopes: caller.scopes, role: null }
  const member = yield* repo.find(caller.tenantId, caller.member.id)
  if (member === null || member.status !== "active") return yield* forbidden
  const scopes = Role.within(caller.scopes, member.role)
  return Scope.grants(scopes, "team:write") ? { scopes, role: member.role } : yield* forbidden
})

/** Fails when the actor may not give this role, or may not change a member with it. */
export const covers = (actor: Role.Actor, role: Role.Role, param: string | undefined): Effect.Effect<void, ApiError> =>
  Role.covers(actor, role)
    ? Effect.void
    : Effect.fail(ApiError.of("forbidden", `the role "${role}" allows more than you may do`, param))
