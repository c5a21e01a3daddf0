import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Team, roles } from "../../../tenancy/team/Team.ts"
import { Api } from "../Api.ts"
import { list, pageOf, read, write } from "../Handler.ts"

export const layer = HttpApiBuilder.group(Api, "team", (handlers) =>
  Effect.map(Team, (team) =>
    handlers.handleAll({
      members: list(team.members),
      change: write((caller, { params, payload }, slot) => team.changeMember(caller, params.id, payload, slot)),
      remove: write((caller, { params }, slot) => team.removeMember(caller, params.id, slot)),
      invite: write((caller, { payload }, slot) => team.invite(caller, payload, slot)),
      invitations: list(team.invitations),
      invitation: read((tenantId, { params }) => team.invitation(tenantId, params.id)),
      revoke: write((caller, { params }, slot) => team.revokeInvitation(caller, params.id, slot)),
      roles: pageOf(() => Effect.succeed(roles))
    })
  )
)
