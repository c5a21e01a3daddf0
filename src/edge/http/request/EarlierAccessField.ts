import { Schema } from "effect"
import { of, or } from "../../../domain/schema/RequestField.ts"

/** The offer to end what was made before, guide/authentication.md#earlier-access. */
const field = (whose: string) => or(of(Schema.Boolean, whose, true), false)

export const ofConfirmation = field(
  "Ends what was made before: all API keys and logins, other members, invitations, the failover URL and webhook subscriptions."
)
export const ofReset = field(
  "Ends what was made before: of an owner all API keys, other members, invitations, the failover URL and webhook subscriptions of the workspace; of another member the member's own keys and invitations."
)
