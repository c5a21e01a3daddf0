import { Context, type Effect, Schema } from "effect"

/** Whom a letter is for: one person, at one address. */
export interface Mailbox {
  /** As a person reads it; it may be empty. */
  readonly name: string
  readonly address: string
}

/** One letter, as text and as HTML that says the same. */
export interface MailMessage {
  /** Of RFC 5322 section 3.6.4, without the angle brackets. A repetition has the same. */
  readonly messageId: string
  readonly to: Mailbox
  /** One line. */
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The transport did not take the message, or nobody knows whether it did. */
export class MailError extends Schema.TaggedError<MailError>()("MailError", {
  detail: Schema.String,
  /** False: it never will. */
  retryable: Schema.Boolean
}) {
  override get message() {
    return `mail not sent: ${this.detail}`
  }
}

/**
 * Whether this is one address and nothing else: no second one, no display name, no comment, no route, no quoted local
 * part (RFC 5322 section 3.4.1 has them all), and no character that could end a header or a command of SMTP.
 */
export const isAddress = (text: string): boolean =>
  text.length <= 320 && /^[^\s\p{C}\p{Z}()<>[\]:;@\\,"]+@[^\s\p{C}\p{Z}()<>[\]:;@\\,"]+$/u.test(text)

/** Sends mail. Letters go through the outbox of `letter/`, which repeats what was not taken. */
export class Mail extends Context.Service<
  Mail,
  {
    /** Succeeds when the transport has taken the message, which is not yet delivery. */
    readonly send: (message: MailMessage) => Effect.Effect<void, MailError>
    /** Whether mail reaches people. Where it does not, nobody is suspended for a link that was never received. */
    readonly isReal: boolean
  }
>()("trunkline/mail/Mail") {}
