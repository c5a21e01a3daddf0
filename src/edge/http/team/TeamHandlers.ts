import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Team, roles } from "../../../tenancy/team/Team.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as Pagination from "../answer/Pagination.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "team",
  Effect.fnUntraced(function* (handlers) {
    const team = yield* Team
    return handlers.handleAll({
      members: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/team/members", query, (window) => team.members(tenantId, window))
      }),
      change: Effect.fnUntraced(function* ({ params, payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(team.changeMember(yield* CurrentKey, params.id, payload, slot))
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(team.removeMember(yield* CurrentKey, params.id, slot))
      }),
      invite: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(team.invite(yield* CurrentKey, payload, slot))
      }),
      invitations: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/team/invitations", query, (window) => team.invitations(tenantId, window))
      }),
      invitation: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* team.invitation(tenantId, params.id))
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(team.revokeInvitation(yield* CurrentKey, params.id, slot))
      }),
      roles: () => Effect.succeed(JsonResponse.of({ results: roles }))
    })
  })
)
