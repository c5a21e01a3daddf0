import { Context, Effect, Layer } from "effect"
import type * as Audit from "../../runtime/audit/Audit.ts"
import type { ApiError } from "../../domain/ApiError.ts"
import type { InvitationId, TenantId, UserId } from "../../domain/Id.ts"
import type { Role } from "../../domain/Role.ts"
import type { Rendered } from "../../runtime/idempotency/Slot.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as Invitations from "./Invitations.ts"
import * as Login from "./Login.ts"
import * as LoginLimits from "./LoginLimits.ts"
import * as Members from "./Members.ts"
import * as PasswordReset from "./PasswordReset.ts"
import * as TeamRepo from "./TeamRepo.ts"
import type { InvitationView, MemberView } from "./TeamView.ts"

export { Invitation, Member, RoleEntry, roles, LoggedIn } from "./TeamView.ts"

/** The people of a tenant, guide/team.md: how they log in, what they may do, and how they join and leave. */
export class Team extends Context.Service<
  Team,
  {
    /**
     * 200 with a key for twelve hours. An unknown address, a wrong password and a disabled member get the same 401, and
     * the same 429 beyond the limits.
     */
    readonly login: (email: string, password: string, ip: string | null) => Effect.Effect<Rendered, ApiError>
    /** 202 and `{}` for every address. */
    readonly requestReset: (email: string) => Effect.Effect<Rendered>
    /**
     * 200, which ends all logins of the member, and on request what was made before; 400 for a token that is unknown,
     * used or expired.
     */
    readonly confirmReset: (request: PasswordReset.Confirmation, ip: string | null) => Effect.Effect<Rendered, ApiError>
    readonly members: (tenantId: TenantId, window: Listing.Window) => Effect.Effect<Listing.Page<MemberView>>
    /** 403 beyond what the caller may do, 409 for the last owner. */
    readonly changeMember: Audit.Request<[id: UserId, to: Members.MemberChange]>
    /** 204; 403 and 409 as above. */
    readonly removeMember: Audit.Request<[id: UserId]>
    /** 201; 403 for a role beyond what the caller may do, 409 for a member or a pending invitation. */
    readonly invite: Audit.Request<[request: { readonly email: string; readonly role: Role }]>
    readonly invitations: (tenantId: TenantId, window: Listing.Window) => Effect.Effect<Listing.Page<InvitationView>>
    readonly invitation: (tenantId: TenantId, id: InvitationId) => Effect.Effect<InvitationView, ApiError>
    /** 204, even for one that is revoked already; 409 for one that was accepted. */
    readonly revokeInvitation: Audit.Request<[id: InvitationId]>
    /** 201 with the new member; 400 for a token that cannot be used, 409 when the address has an account by now. */
    readonly accept: (request: Invitations.Acceptance, ip: string | null) => Effect.Effect<Rendered, ApiError>
  }
>()("trunkline/team/Team") {
  /** `baseUrl` has no trailing slash; links in letters begin with it. */
  static readonly layer = (options: { readonly baseUrl: string }) =>
    Layer.effect(
      Team,
      Effect.gen(function* () {
        const repo = yield* TeamRepo.make
        const limits = LoginLimits.make()
        const login = yield* Login.make(limits)
        const reset = yield* PasswordReset.make({ ...options, limits })
        const members = yield* Members.make
        const invitations = yield* Invitations.make(options)
        return Team.of({
          login,
          requestReset: reset.request,
          confirmReset: reset.confirm,
          members: repo.members,
          changeMember: members.change,
          removeMember: members.remove,
          invite: invitations.invite,
          invitations: repo.invitations,
          invitation: invitations.find,
          revokeInvitation: invitations.revoke,
          accept: invitations.accept
        })
      })
    )
}
