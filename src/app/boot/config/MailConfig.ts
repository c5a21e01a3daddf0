import type { OperatorTarget } from "../../../ports/egress/OperatorTarget.ts"
import type { Redacted } from "effect"
import { isAddress, type Mailbox } from "../../../ports/mail/Mail.ts"
import * as Environment from "./Environment.ts"

export interface MailServer {
  readonly target: OperatorTarget
  readonly from: Mailbox
  readonly login: { readonly user: string; readonly password: Redacted.Redacted } | null
  readonly requiresTls: boolean
}

/** Reads `address` or `name <address>`. */
const mailbox = (variable: string, value: string): Mailbox => {
  const [, name = "", address = value] = /^\s*(?:"?([^"<>]*?)"?\s*<([^<>]*)>|\S*)\s*$/.exec(value) ?? []
  return isAddress(address.trim())
    ? { name: name.trim(), address: address.trim() }
    : Environment.fail(variable, `must be an address, or a name with one: Phone Company <no-reply@example.com>`)
}

/** Null: letters go to the log. */
export const server = (env: Environment.Environment): MailServer | null => {
  const variable = "SMTP_URL"
  const target = env.service(variable, ["smtp:", "smtps:"], { authorities: env.file("SMTP_CA_FILE") })
  const [user, password] = [env.optional("SMTP_USER"), env.secret("SMTP_PASSWORD")]
  const from = env.optional("MAIL_FROM")
  const tls = env.oneOf("SMTP_TLS", "required", ["required", "optional"])
  if (target === null) return null
  if (from === null) return Environment.fail(variable, "needs MAIL_FROM, the address that letters come from")
  if ((user === null) !== (password === null))
    return Environment.fail(variable, "needs SMTP_USER and SMTP_PASSWORD together, or neither")
  if (user !== null && tls === "optional")
    return Environment.fail("SMTP_TLS", "must be required where there is a password, which would go in clear")
  return {
    target,
    from: mailbox("MAIL_FROM", from),
    login: user === null || password === null ? null : { user, password },
    requiresTls: tls === "required"
  }
}
