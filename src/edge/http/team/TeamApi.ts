import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { roles } from "../../../domain/Role.ts"
import { Invitation, Member, RoleEntry } from "../../../tenancy/team/Team.ts"
import { Authenticated } from "../request/Authenticated.ts"
import * as EmailAddressField from "../../../domain/schema/EmailAddressField.ts"
import { endpoints } from "../Endpoint.ts"
import * as PathId from "../request/PathId.ts"
import { of } from "../../../domain/schema/RequestField.ts"

/** Members, invitations and roles, guide/team.md. */

const { get, list, patch, post, remove } = endpoints({ reads: "team:read", writes: "team:write" })

const role = of(Schema.Literals(roles), "What the member may do.", "developer")
const status = of(
  Schema.Literals(["active", "disabled"]),
  "A disabled member cannot log in, and the member's keys are revoked.",
  "disabled"
)
const ofMember = { id: PathId.user.annotate({ description: "The member." }) }
const ofInvitation = { id: PathId.invitation.annotate({ description: "The invitation." }) }

export class TeamApi extends HttpApiGroup.make("team")
  .add(
    list("members", "/v1/team/members", "List the members", Member, { description: "Newest first." }),
    patch("change", "/v1/team/members/:id", "Change a member", {
      params: ofMember,
      payload: Schema.Struct({ role: Schema.optionalKey(role), status: Schema.optionalKey(status) }).annotate({
        identifier: "ChangeMember"
      }),
      success: Member,
      description: "Fields left out stay. The member's keys follow the role at once.",
      errors: ["not_found", "conflict"]
    }),
    remove("remove", "/v1/team/members/:id", "Remove a member", {
      params: ofMember,
      description: "The member's keys are revoked.",
      errors: ["not_found", "conflict"]
    }),
    post("invite", "/v1/team/invitations", "Invite somebody", {
      payload: Schema.Struct({ email: EmailAddressField.schema("Who is invited."), role }).annotate({
        identifier: "Invite"
      }),
      success: Invitation.pipe(HttpApiSchema.status(201)),
      description: "The link in the letter works once, for seven days.",
      errors: ["conflict", "rate_limited"]
    }),
    list("invitations", "/v1/team/invitations", "List the invitations", Invitation, { description: "Newest first." }),
    get("invitation", "/v1/team/invitations/:id", "Retrieve an invitation", {
      params: ofInvitation,
      success: Invitation,
      errors: ["not_found"]
    }),
    remove("revoke", "/v1/team/invitations/:id", "Revoke an invitation", {
      params: ofInvitation,
      description: "Its link works no more.",
      errors: ["not_found", "conflict"]
    }),
    list("roles", "/v1/team/roles", "List the roles", RoleEntry, { description: "Every role that a member can have." })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Team", description: "Members, invitations and roles." })) {}
