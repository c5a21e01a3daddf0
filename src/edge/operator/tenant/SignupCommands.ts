import { Effect } from "effect"
import * as Id from "../../../domain/Id.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as EmailAddressField from "../../../domain/schema/EmailAddressField.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"

/** guide/operation.md#sign-up. */
export const commands = [
  Command.make("signup invite", {
    summary: "invites an address to sign up: sends it a letter with a link, and shows the link once",
    input: { email: Flag.argument("email", EmailAddressField.schema(""), "the address that may sign up") },
    run: ({ email }) => Tenants.use((tenants) => tenants.inviteSignup(email))
  }),
  Command.make("signup list", {
    summary: "lists the newest 1,000 invitations to sign up",
    columns: "id email status tenant_id expires_at created_at",
    run: Effect.fnUntraced(function* () {
      return { results: yield* (yield* Tenants).signupInvitations }
    })
  }),
  Command.make("signup revoke", {
    summary: "ends an invitation that nothing has signed up with",
    input: { id: Flag.argument("invitation id", Id.InvitationId, "the invitation, as signup list shows it") },
    run: ({ id }) => Tenants.use((tenants) => tenants.revokeSignup(id))
  })
]
