import { Context, type Effect, Schema } from "effect"

/** One person's address, to which a letter goes. */
export interface Mailbox {
  /** The name for people to read; it may be empty. */
  readonly name: string
  readonly address: string
}

/** One letter, as text and as HTML with the same content. */
export interface MailMessage {
  /** The Message-ID (RFC 5322 section 3.6.4) without the angle brackets. A repetition has the same one. */
  readonly messageId: string
  /** Without a name: it may be one that a stranger gave. */
  readonly to: Pick<Mailbox, "address">
  /** One line. */
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The transport did not take the message, or the outcome is unknown. */
export class MailError extends Schema.TaggedError<MailError>()("MailError", {
  detail: Schema.String,
  /** False: the transport will never take it. */
  retryable: Schema.Boolean
}) {
  override get message() {
    return `mail not sent: ${this.detail}`
  }
}

/**
 * True when this is one address and nothing else: no second one, no display name, no comment, no route, no quoted local
 * part (RFC 5322 section 3.4.1 has them all), and no character that could end a header or a command of SMTP.
 */
export const isAddress = (text: string): boolean =>
  text.length <= 320 && /^[^\s\p{C}\p{Z}()<>[\]:;@\\,"]+@[^\s\p{C}\p{Z}()<>[\]:;@\\,"]+$/u.test(text)

/** Sends mail. Letters go through the outbox of `letter/`, which repeats the ones that were not taken. */
export class Mail extends Context.Service<
  Mail,
  {
    /** Succeeds when the transport has taken the message, which is not yet delivery. */
    readonly send: (message: MailMessage) => Effect.Effect<void, MailError>
    /** True when mail reaches people. Otherwise no tenant is suspended because of a link that it could not receive. */
    readonly isReal: boolean
  }
>()("trunkline/mail/Mail") {}
