import { Effect, Layer, Redacted } from "effect"
import { createTransport } from "nodemailer"
import * as Printable from "../../../domain/schema/Printable.ts"
import { OperatorEgress } from "../../egress/OperatorEgress.ts"
import type { OperatorTarget } from "../../egress/OperatorTarget.ts"
import { isAddress, Mail, type Mailbox, MailError, type MailMessage } from "../Mail.ts"
import * as PinnedSocket from "./PinnedSocket.ts"
import * as Refusal from "./Refusal.ts"

/** A mail server for submission (RFC 6409), from configuration. */
interface SmtpServer {
  /** `smtp:` (STARTTLS) or `smtps:` (TLS from the first byte). */
  readonly target: OperatorTarget
  /** The sender, in the header and in the envelope. */
  readonly from: Mailbox
  /** Null: the server requires no login. */
  readonly login: { readonly user: string; readonly password: Redacted.Redacted } | null
  /** False: a message may go in clear where the server offers no TLS, and the certificate is not checked. */
  readonly requiresTls: boolean
}

/** The number of connections to the server; further letters wait. */
const connections = 2
const timeouts = { connectionTimeout: 15_000, greetingTimeout: 15_000, socketTimeout: 45_000 }
const hostOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1)

/**
 * Hands letters to a mail server over SMTP (RFC 5321), by a few connections that are kept.
 *
 * The name and the certificate of the server are checked, and nothing is sent before TLS. A letter is refused for good
 * when the server refuses its recipient or its content. The operator has to repair a fault of the connection, the login
 * or the sender, so the letter is sent again then.
 */
export const layer = (server: SmtpServer) =>
  Layer.effect(
    Mail,
    Effect.gen(function* () {
      const { from, login, requiresTls, target } = server
      const client = yield* (yield* OperatorEgress).open(target)
      const pin = client.pin("/", timeouts.connectionTimeout)
      const transport = yield* Effect.acquireRelease(
        Effect.sync(() =>
          createTransport({
            pool: true,
            maxConnections: connections,
            maxRequeues: 1,
            name: hostOf(from.address),
            ...timeouts,
            requireTLS: requiresTls,
            // With `requiresTls` the server's certificate must be valid, with STARTTLS as well as with TLS.
            opportunisticTLS: !requiresTls,
            disableFileAccess: true,
            disableUrlAccess: true,
            ...(login === null
              ? {}
              : { auth: { user: login.user, pass: Redacted.value(login.password) }, forceAuth: true }),
            getSocket: PinnedSocket.opener(pin, { verifies: requiresTls, timeoutMs: timeouts.connectionTimeout })
          })
        ),
        (transport) => Effect.sync(() => transport.close())
      )

      const submit = ({ html, messageId, subject, text, to }: MailMessage) =>
        Effect.tryPromise({
          try: (signal) =>
            transport.sendMail({
              // The addresses are a list and never one text, where a comma in an address would make two.
              envelope: { from: from.address, to: [to.address] },
              from: { name: from.name, address: from.address },
              to: { name: "", address: to.address },
              subject: Printable.neutral(subject),
              text,
              html,
              messageId: `<${messageId}>`,
              // RFC 3834: automatic responders do not answer it.
              headers: { "Auto-Submitted": "auto-generated" },
              signal
            }),
          catch: Refusal.of
        })

      return Mail.of({
        isReal: true,
        send: (message) =>
          isAddress(message.to.address)
            ? submit(message)
            : Effect.fail(new MailError({ detail: "the recipient is not one address", retryable: false }))
      })
    })
  )
