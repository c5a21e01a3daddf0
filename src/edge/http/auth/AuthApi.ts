import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Wire from "../../../domain/schema/Wire.ts"
import { LoggedIn, Member } from "../../../tenancy/team/Team.ts"
import * as EmailAddressField from "../request/EmailAddressField.ts"
import { endpoints } from "../Endpoint.ts"
import { LimitedBy, Public } from "../Public.ts"
import * as Text from "../request/Text.ts"

/** Login, password reset and joining a team, guide/authentication.md#login: no key, but limited. */

const { post } = endpoints({ reads: null, writes: null })

const email = EmailAddressField.schema("Of the member.")
const newPassword = Text.of(10, 128).annotate({ description: "Kept as a hash.", examples: ["correct horse battery"] })
const token = Text.of(1, 128).annotate({
  description: "From the link in the mail; works once.",
  examples: ["Yk3TQd0s7bXo"]
})

export class AuthApi extends HttpApiGroup.make("auth")
  .add(
    post("login", "/v1/auth/login", "Log in", {
      payload: Wire.struct({
        email,
        password: Text.of(1, 128).annotate({ description: "The member's.", examples: ["correct horse battery"] })
      }).pipe(Schema.annotateEncoded({ identifier: "Login" })),
      success: LoggedIn,
      description: "Gives a key for twelve hours, with the scopes of the member's role.",
      errors: ["invalid_credentials"]
    }).annotate(LimitedBy, ["login"]),
    post("reset", "/v1/auth/password-reset", "Ask for a new password", {
      payload: Schema.Struct({ email }).annotate({ identifier: "PasswordReset" }),
      success: Schema.Struct({}).annotate({ identifier: "ResetAccepted" }).pipe(HttpApiSchema.status(202)),
      description: "The answer does not tell whether the address is known.",
      example: { response: {} }
    }).annotate(LimitedBy, ["reset_by_ip"]),
    post("confirm", "/v1/auth/password-reset/confirm", "Set a new password", {
      payload: Wire.struct({ token, newPassword }).pipe(Schema.annotateEncoded({ identifier: "ConfirmReset" })),
      success: Schema.Struct({}).annotate({ identifier: "ResetConfirmed" }),
      description: "Ends all logins of the member.",
      example: { response: {} }
    }).annotate(LimitedBy, ["confirm_reset"]),
    post("accept", "/v1/team/invitations/accept", "Accept an invitation", {
      payload: Wire.struct({
        token,
        password: newPassword,
        firstName: Text.of(1, 120).annotate({ description: "Of the new member.", examples: ["Ada"] }),
        lastName: Text.of(1, 120).annotate({ description: "Of the new member.", examples: ["Lovelace"] })
      }).pipe(Schema.annotateEncoded({ identifier: "AcceptInvitation" })),
      success: Member.pipe(HttpApiSchema.status(201)),
      errors: ["conflict"]
    }).annotate(LimitedBy, ["accept_invitation"])
  )
  .middleware(Public)
  .annotateMerge(OpenApi.annotations({ title: "Login", description: "Needs no key; limited." })) {}
