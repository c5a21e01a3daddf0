import { Context, type Effect, Schema } from "effect"

/** A plain-text message; `subject` is one line. */
export interface MailMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** The transport did not take the message. */
export class MailError extends Schema.TaggedError<MailError>()("MailError", {
  detail: Schema.String,
  retryable: Schema.Boolean
}) {
  override get message() {
    return `mail not sent: ${this.detail}`
  }
}

/** Sends mail: verification links, invitations, password resets. */
export class Mail extends Context.Service<
  Mail,
  {
    /** Succeeds when the transport has taken the message, which is not yet delivery. */
    readonly send: (message: MailMessage) => Effect.Effect<void, MailError>
    /** Whether mail reaches people. Where it does not, nobody is suspended for a link that was never received. */
    readonly isReal: boolean
  }
>()("trunkline/mail/Mail") {}
