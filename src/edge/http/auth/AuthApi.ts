import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Wire from "../../../domain/schema/Wire.ts"
import { LoggedIn, Member } from "../../../tenancy/team/Team.ts"
import * as EmailAddressField from "../request/EmailAddressField.ts"
import { about } from "../Endpoint.ts"
import { LimitedBy, Public } from "../Public.ts"
import * as Text from "../request/Text.ts"

/** Login, password reset and joining a team, guide/authentication.md#login: no key, but limited. */

const email = EmailAddressField.schema("Of the member.")
const newPassword = Text.of(10, 128).annotate({ description: "Kept as a hash.", examples: ["correct horse battery"] })
const token = Text.of(1, 128).annotate({
  description: "From the link in the mail; works once.",
  examples: ["Yk3TQd0s7bXo"]
})

const login = HttpApiEndpoint.post("login", "/v1/auth/login", {
  payload: Wire.struct({
    email,
    password: Text.of(1, 128).annotate({ description: "The member's.", examples: ["correct horse battery"] })
  }).pipe(Schema.annotateEncoded({ identifier: "Login" })),
  success: LoggedIn
})
  .annotate(LimitedBy, ["login"])
  .annotateMerge(
    about({
      summary: "Log in",
      description: "Gives a key for twelve hours, with the scopes of the member's role.",
      scope: null,
      errors: ["invalid_credentials"]
    })
  )

const reset = HttpApiEndpoint.post("reset", "/v1/auth/password-reset", {
  payload: Schema.Struct({ email }).annotate({ identifier: "PasswordReset" }),
  success: Schema.Struct({}).annotate({ identifier: "ResetAccepted" }).pipe(HttpApiSchema.status(202))
})
  .annotate(LimitedBy, ["reset_by_ip"])
  .annotateMerge(
    about({
      summary: "Ask for a new password",
      description: "The answer does not tell whether the address is known.",
      example: { response: {} },
      scope: null
    })
  )

const confirm = HttpApiEndpoint.post("confirm", "/v1/auth/password-reset/confirm", {
  payload: Wire.struct({ token, newPassword }).pipe(Schema.annotateEncoded({ identifier: "ConfirmReset" })),
  success: Schema.Struct({}).annotate({ identifier: "ResetConfirmed" })
})
  .annotate(LimitedBy, ["confirm_reset"])
  .annotateMerge(
    about({
      summary: "Set a new password",
      description: "Ends all logins of the member.",
      example: { response: {} },
      scope: null
    })
  )

const accept = HttpApiEndpoint.post("accept", "/v1/team/invitations/accept", {
  payload: Wire.struct({
    token,
    password: newPassword,
    firstName: Text.of(1, 120).annotate({ description: "Of the new member.", examples: ["Ada"] }),
    lastName: Text.of(1, 120).annotate({ description: "Of the new member.", examples: ["Lovelace"] })
  }).pipe(Schema.annotateEncoded({ identifier: "AcceptInvitation" })),
  success: Member.pipe(HttpApiSchema.status(201))
})
  .annotate(LimitedBy, ["accept_invitation"])
  .annotateMerge(about({ summary: "Accept an invitation", scope: null, errors: ["conflict"] }))

export class AuthApi extends HttpApiGroup.make("auth")
  .add(login, reset, confirm, accept)
  .middleware(Public)
  .annotateMerge(OpenApi.annotations({ title: "Login", description: "Needs no key; limited." })) {}
