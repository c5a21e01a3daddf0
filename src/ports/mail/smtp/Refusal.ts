import * as Printable from "../../../domain/schema/Printable.ts"
import { MailError } from "../Mail.ts"

const detailLength = 300

/** The parts of nodemailer's error that come from a reply of the server; each may be absent. */
interface Reply {
  readonly message?: unknown
  readonly command?: unknown
  readonly permanent?: unknown
  readonly response?: unknown
}

/**
 * RFC 3463 section 3.8: a policy, for example that a login is required or relaying is refused. The operator can change
 * it.
 */
const isPolicy = (response: unknown): boolean => typeof response === "string" && /^\d{3}[ -]5\.7\./.test(response)

/**
 * Decides the fate of a letter that was not taken. It is refused for good when the server refused its recipient or its
 * content with a 5yz reply (RFC 5321 section 4.2.1); it is sent again in all other cases.
 */
export const of = (error: unknown): MailError => {
  const reply: Reply = typeof error === "object" && error !== null ? error : {}
  const isOfLetter = reply.command === "RCPT TO" || reply.command === "DATA"
  const isRefused = reply.permanent === true && isOfLetter && !isPolicy(reply.response)
  const detail = typeof reply.message === "string" ? reply.message : "the mail server cannot be reached"
  return new MailError({ detail: Printable.neutral(detail).slice(0, detailLength), retryable: !isRefused })
}
