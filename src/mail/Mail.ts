import { Context, type Effect, Schema } from "effect"
import * as Printable from "../domain/Printable.ts"

/** A plain-text message; `subject` is one line. */
export interface MailMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/**
 * A message of ours with words of others in it: they stay within their line of the text, and make no header of their own
 * (RFC 5322 section 2.2).
 */
export const message = (of: {
  readonly to: string
  readonly subject: string
  readonly lines: ReadonlyArray<string>
}): MailMessage => ({
  to: Printable.neutral(of.to),
  subject: Printable.neutral(of.subject),
  text: of.lines.map(Printable.neutral).join("\n")
})

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
