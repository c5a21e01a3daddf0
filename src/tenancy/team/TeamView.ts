import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import { InvitationId, UserId } from "../../domain/Id.ts"
import * as Role from "../../domain/Role.ts"
import * as Wire from "../../domain/schema/Wire.ts"

const email = Field.text("Lower case.", "ada@example.com")
const role = Field.oneOf("What the member may do.", Role.roles)

/** A person in the workspace, guide/team.md#members. */
export const Member = Wire.struct({
  id: Field.uuid(UserId, "The member."),
  email,
  firstName: Field.text("As given.", "Ada"),
  lastName: Field.text("As given.", "Lovelace"),
  role,
  status: Field.oneOf("A disabled member cannot log in.", ["active", "disabled"]),
  emailVerified: Field.flag("Whether the address is confirmed.", true),
  lastLoginAt: Field.timeOrNull("Null: never."),
  createdAt: Field.time("When the member joined.")
}).pipe(Schema.annotateEncoded({ identifier: "Member" }))
/** Times are epoch milliseconds. */
export type MemberRow = typeof Member.Type
export type MemberView = typeof Member.Encoded
export const member = Wire.encoder(Member)

/** An invitation to the workspace, guide/team.md#invitations. */
export const Invitation = Wire.struct({
  id: Field.uuid(InvitationId, "The invitation."),
  email,
  role,
  status: Field.oneOf("`expired`: seven days passed.", ["pending", "accepted", "revoked", "expired"]),
  expiresAt: Field.time("Until when the link works.", "2026-01-08T00:00:00.000Z"),
  createdAt: Field.time("When it was sent.")
}).pipe(Schema.annotateEncoded({ identifier: "Invitation" }))
export type InvitationRow = typeof Invitation.Type
export type InvitationView = typeof Invitation.Encoded
export const invitation = Wire.encoder(Invitation)

/** A role and its permissions, guide/team.md#roles. */
export const RoleEntry = Wire.struct({
  slug: role,
  name: Field.text("For people.", "Developer"),
  scopes: Field.texts("What it allows; `*` is all.", ["calls:read", "calls:write"])
}).pipe(Schema.annotateEncoded({ identifier: "Role" }))
const roleEntry = Wire.encoder(RoleEntry)

export const roles = Role.roles.map((slug) =>
  roleEntry({ slug, name: Role.nameOf(slug), scopes: [...Role.scopesOf(slug)] })
)

/** Answer of `POST /v1/auth/login`. */
export const LoggedIn = Wire.struct({
  apiKeyPlaintext: Field.text("A key of the member's; shown here only.", "svc_live_…"),
  expiresAt: Field.time("From then on the key is refused.", "2026-01-01T12:00:00.000Z")
}).pipe(Schema.annotateEncoded({ identifier: "LoggedIn", description: "The only answer that holds the key." }))
export const loggedIn = Wire.encoder(LoggedIn)
