import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { LoggedIn, Member } from "../../../tenancy/team/Team.ts"
import * as Name from "../../../domain/schema/Name.ts"
import * as EarlierAccessField from "../request/EarlierAccessField.ts"
import * as EmailAddressField from "../../../domain/schema/EmailAddressField.ts"
import { endpoints } from "../Endpoint.ts"
import { LimitedBy, Public } from "../Public.ts"
import * as Text from "../request/Text.ts"
import { body, of } from "../../../domain/schema/RequestField.ts"

/** Login, password reset and joining a team, guide/authentication.md#login: no key, but limited. */

const { post } = endpoints({ reads: null, writes: null })

const email = EmailAddressField.schema("Of the member.")
const newPassword = of(Text.of(10, 128), "Kept as a hash.", "correct horse battery")
const token = of(Text.of(1, 128), "From the link in the mail; works once.", "Yk3TQd0s7bXo")

export class AuthApi extends HttpApiGroup.make("auth")
  .add(
    post("login", "/v1/auth/login", "Log in", {
      payload: body("Login", {
        email,
        password: of(Text.of(1, 128), "The member's.", "correct horse battery")
      }),
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
      payload: body("ConfirmReset", { token, newPassword, endEarlierAccess: EarlierAccessField.ofReset }),
      success: Schema.Struct({}).annotate({ identifier: "ResetConfirmed" }),
      description:
        "Ends all logins of the member. Where the address was never confirmed, it ends all keys, other members and invitations of the workspace too, whatever `end_earlier_access` says.",
      example: { response: {} }
    }).annotate(LimitedBy, ["confirm_reset"]),
    post("accept", "/v1/team/invitations/accept", "Accept an invitation", {
      payload: body("AcceptInvitation", {
        token,
        password: newPassword,
        firstName: of(Name.of(120), "Of the new member.", "Ada"),
        lastName: of(Name.of(120), "Of the new member.", "Lovelace")
      }),
      success: Member.pipe(HttpApiSchema.status(201)),
      errors: ["conflict"]
    }).annotate(LimitedBy, ["accept_invitation"])
  )
  .middleware(Public)
  .annotateMerge(OpenApi.annotations({ title: "Login", description: "Needs no key; limited." })) {}
