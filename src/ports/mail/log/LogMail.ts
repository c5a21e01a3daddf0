import { Effect, Layer } from "effect"
import { Mail } from "../Mail.ts"

/**
 * Writes each mail with its links to the log, from which the operator can pass it on: so a service without a mail
 * transport can be tried at once. The log then holds what a mailbox would.
 */
export const layer: Layer.Layer<Mail> = Layer.succeed(Mail, {
  isReal: false,
  send: ({ to, subject, text }) => Effect.logInfo(`mail to ${to.address}: ${subject}\n${text}`)
})
