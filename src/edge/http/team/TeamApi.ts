import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { roles } from "../../../domain/Role.ts"
import { Invitation, Member, RoleEntry } from "../../../tenancy/team/Team.ts"
import { Authenticated } from "../request/Authenticated.ts"
import * as EmailAddressField from "../request/EmailAddressField.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"

/** Members, invitations and roles, guide/team.md. */

const role = Schema.Literals(roles).annotate({ description: "What the member may do.", examples: ["developer"] })
const status = Schema.Literals(["active", "disabled"]).annotate({
  description: "A disabled member cannot log in, and the member's keys are revoked.",
  examples: ["disabled"]
})
const ofMember = { id: PathId.user.annotate({ description: "The member." }) }
const ofInvitation = { id: PathId.invitation.annotate({ description: "The invitation." }) }

const members = HttpApiEndpoint.get("members", "/v1/team/members", {
  query: Pagination.query,
  success: Pagination.envelope(Member)
}).annotateMerge(about({ summary: "List the members", description: "Newest first.", scope: "team:read" }))

const change = HttpApiEndpoint.patch("change", "/v1/team/members/:id", {
  params: ofMember,
  payload: Schema.Struct({ role: Schema.optionalKey(role), status: Schema.optionalKey(status) }).annotate({
    identifier: "ChangeMember"
  }),
  success: Member
}).annotateMerge(
  about({
    summary: "Change a member",
    description: "Fields left out stay. The member's keys follow the role at once.",
    scope: "team:write",
    errors: ["not_found", "conflict"]
  })
)

const remove = HttpApiEndpoint.delete("remove", "/v1/team/members/:id", {
  params: ofMember,
  success: HttpApiSchema.NoContent
}).annotateMerge(
  about({
    summary: "Remove a member",
    description: "The member's keys are revoked.",
    scope: "team:write",
    errors: ["not_found", "conflict"]
  })
)

const invite = HttpApiEndpoint.post("invite", "/v1/team/invitations", {
  payload: Schema.Struct({ email: EmailAddressField.schema("Who is invited."), role }).annotate({
    identifier: "Invite"
  }),
  success: Invitation.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Invite somebody",
    description: "The link in the letter works once, for seven days.",
    scope: "team:write",
    errors: ["conflict"]
  })
)

const invitations = HttpApiEndpoint.get("invitations", "/v1/team/invitations", {
  query: Pagination.query,
  success: Pagination.envelope(Invitation)
}).annotateMerge(about({ summary: "List the invitations", description: "Newest first.", scope: "team:read" }))

const invitation = HttpApiEndpoint.get("invitation", "/v1/team/invitations/:id", {
  params: ofInvitation,
  success: Invitation
}).annotateMerge(about({ summary: "Retrieve an invitation", scope: "team:read", errors: ["not_found"] }))

const revoke = HttpApiEndpoint.delete("revoke", "/v1/team/invitations/:id", {
  params: ofInvitation,
  success: HttpApiSchema.NoContent
}).annotateMerge(
  about({
    summary: "Revoke an invitation",
    description: "Its link works no more.",
    scope: "team:write",
    errors: ["not_found", "conflict"]
  })
)

const listRoles = HttpApiEndpoint.get("roles", "/v1/team/roles", {
  success: Schema.Struct({
    results: Schema.Array(RoleEntry).annotate({ description: "Every role that a member can have." })
  }).annotate({ identifier: "Roles" })
}).annotateMerge(about({ summary: "List the roles", scope: "team:read" }))

export class TeamApi extends HttpApiGroup.make("team")
  .add(members, change, remove, invite, invitations, invitation, revoke, listRoles)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Team", description: "Members, invitations and roles." })) {}
