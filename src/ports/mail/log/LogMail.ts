import { Effect, Layer } from "effect"
import { Mail } from "../Mail.ts"

/**
 * Writes each mail to the log, links and all, for the operator to pass on: a service without a mail transport can be
 * tried at once. The log then holds what a mailbox would.
 */
export const layer: Layer.Layer<Mail> = Layer.succeed(Mail, {
  isReal: false,
  send: ({ to, subject, text }) => Effect.logInfo(`mail to ${to.address}: ${subject}\n${text}`)
})
