import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import type { Socket } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { OperatorTarget } from "../../../../src/ports/egress/OperatorTarget.ts"
import * as NodeOperatorEgress from "../../../../src/ports/egress/node/NodeOperatorEgress.ts"
import { Mail, type MailMessage } from "../../../../src/ports/mail/Mail.ts"
import * as SmtpMail from "../../../../src/ports/mail/smtp/SmtpMail.ts"
import * as BusyListener from "../../../support/network/BusyListener.ts"
import * as TestCertificate from "../../../support/network/TestCertificate.ts"

const authority = TestCertificate.makeAuthority()
const certificate = authority.issue(["localhost"])

/** Submissions as the server took them. */
interface Taken {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly secure: boolean
  readonly user: string | undefined
  readonly raw: string
}

/** A mail server on loopback, with the submissions that it took. */
const serving = Effect.fnUntraced(function* (options: SMTPServerOptions = {}) {
  const taken: Array<Taken> = []
  const server = new SMTPServer({
    ...certificate,
    onAuth: ({ password, username }, _session, done) =>
      password === "secret" ? done(null, { user: username }) : done(new Error("wrong password")),
    onData: (stream, session, done) => {
      const parts: Array<Buffer> = []
      stream.on("data", (part: Buffer) => void parts.push(part))
      stream.on("end", () => {
        taken.push({
          from: session.envelope.mailFrom === false ? "" : session.envelope.mailFrom.address,
          to: session.envelope.rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: session.user as string | undefined,
          raw: Buffer.concat(parts).toString("utf8")
        })
        done()
      })
    },
    ...options
  })
  server.on("error", () => undefined)
  const sockets = new Set<Socket>()
  server.server.on("connection", (socket) => void sockets.add(socket))
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
  )
  const address = server.server.address()
  if (address === null || typeof address === "string") return yield* Effect.die("no port")
  return { taken, port: address.port, sockets }
})

const letter: MailMessage = {
  messageId: "0123@phone.example",
  to: { address: "lukasz@example.com" },
  subject: "Grüße",
  text: "Hello\n\n.\nx\n",
  html: "<p>Hello</p>"
}

interface Asked {
  readonly scheme?: "smtp" | "smtps"
  readonly password?: string
  readonly host?: string
  readonly requiresTls?: boolean
  readonly isTrusted?: boolean
  readonly hasLogin?: boolean
  readonly addresses?: ReadonlyArray<string>
}

const send = (port: number, message: MailMessage, asked: Asked = {}) =>
  Effect.gen(function* () {
    const { hasLogin = true, host = "localhost", isTrusted = true, password = "secret", scheme = "smtp" } = asked
    const configured = OperatorTarget.configured(`${scheme}://${host}:${port}`, {
      plain: true,
      ...(isTrusted ? { authorities: authority.cert } : {})
    })
    if (Result.isFailure(configured)) return yield* Effect.die(configured.failure)
    const mail = SmtpMail.layer({
      target: configured.success,
      from: { name: "Phone, Inc.", address: "no-reply@phone.example" },
      login: hasLogin ? { user: "trunkline", password: Redacted.make(password) } : null,
      requiresTls: asked.requiresTls ?? true
    }).pipe(Layer.provide(NodeOperatorEgress.layer(asked.addresses && (async () => asked.addresses ?? []))))
    return yield* Effect.flatMap(Mail, (mail) => mail.send(message)).pipe(Effect.provide(mail), Effect.result)
  })

const headers = (raw: string) => raw.slice(0, raw.indexOf("\r\n\r\n")).replaceAll(/\r\n[ \t]+/g, " ")

describe("mail by SMTP", () => {
  it.live("goes over STARTTLS with a login, from one to one, as text and HTML", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* serving()
      expect((yield* send(port, letter))._tag).toBe("Success")
      const [got] = taken
      if (got === undefined) throw new Error("nothing came")
      expect([got.from, got.to, got.secure, got.user]).toEqual([
        "no-reply@phone.example",
        ["lukasz@example.com"],
        true,
        "trunkline"
      ])
      expect(headers(got.raw)).toMatch(/^Message-ID: <0123@phone.example>$/im)
      expect(headers(got.raw)).toMatch(/^Auto-Submitted: auto-generated$/im)
      expect(headers(got.raw)).toMatch(/^From: "Phone, Inc." <no-reply@phone.example>$/im)
      expect(headers(got.raw)).toMatch(/^To: lukasz@example.com$/im)
      expect(headers(got.raw)).toMatch(/^Content-Type: multipart\/alternative/im)
      expect(got.raw).toContain("<p>Hello</p>")
    }).pipe(Effect.scoped)
  )

  it.live.each([[["127.0.0.1", "127.0.0.2"]], [["127.0.0.2", "127.0.0.1", "::1"]]])(
    "waits more than a second for the one address of several that answers: %s",
    ([addresses = []]) =>
      Effect.gen(function* () {
        const { port, taken } = yield* serving()
        const busy = yield* BusyListener.start(port)
        expect(yield* send(busy.port, letter, { addresses })).toMatchObject({ _tag: "Success" })
        expect(taken).toHaveLength(1)
      }).pipe(Effect.scoped)
  )

  it.live("goes over TLS from the first byte", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* serving({ secure: true })
      expect((yield* send(port, letter, { scheme: "smtps" }))._tag).toBe("Success")
      expect(taken.map(({ secure }) => secure)).toEqual([true])
    }).pipe(Effect.scoped)
  )

  it.live(
    "tells nothing to a server without TLS, with another's certificate, or with one that nobody vouches for",
    () =>
      Effect.gen(function* () {
        const plain = yield* serving({ hideSTARTTLS: true, disabledCommands: ["STARTTLS"] })
        const other = yield* serving(authority.issue(["mail.example.com"]))
        const good = yield* serving()
        const outcomes = [
          yield* send(plain.port, letter),
          yield* send(other.port, letter),
          yield* send(good.port, letter, { isTrusted: false })
        ]
        for (const outcome of outcomes) expect(outcome).toMatchObject({ _tag: "Failure", failure: { retryable: true } })
        expect([plain.taken, other.taken, good.taken]).toEqual([[], [], []])
      }).pipe(Effect.scoped)
  )

  it.live("goes in clear where the operator says that it may", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* serving({ disabledCommands: ["STARTTLS", "AUTH"], authOptional: true })
      expect((yield* send(port, letter, { requiresTls: false, hasLogin: false }))._tag).toBe("Success")
      expect(taken.map(({ secure }) => secure)).toEqual([false])
    }).pipe(Effect.scoped)
  )

  it.live("is one letter to one address, whatever the name and the address hold", () =>
    Effect.gen(function* () {
      const { port, taken } = yield* serving()
      const addresses = [
        "a@x.com, b@y.com",
        "a@x.com\r\nRCPT TO:<b@y.com>",
        "Ada <a@x.com>",
        "a@x.com\nBcc: b@y.com",
        ""
      ]
      for (const address of addresses)
        expect(yield* send(port, { ...letter, to: { address } })).toMatchObject({
          failure: { retryable: false }
        })
      expect(taken).toEqual([])
      const name = 'Ada\r\nBcc: b@y.com\r\n\r\n<h1>" <b@y.com>, c@z.com'
      const to = { name, address: "a@x.com" }
      expect((yield* send(port, { ...letter, to, subject: `Hi\r\nBcc: b@y.com\r\nX: ${name}` }))._tag).toBe("Success")
      expect(taken.map(({ to }) => to)).toEqual([["a@x.com"]])
      const names = headers(taken[0]?.raw ?? "")
        .split("\r\n")
        .map((line) => line.slice(0, line.indexOf(":")).toLowerCase())
      expect(names.toSorted()).toEqual([
        "auto-submitted",
        "content-type",
        "date",
        "from",
        "message-id",
        "mime-version",
        "subject",
        "to"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("is refused for good by what concerns the letter, and tried again after all else", () =>
    Effect.gen(function* () {
      const says = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })
      const refusing = (error: Error) => serving({ onRcptTo: (_address, _session, done) => done(error) })
      const unknown = yield* refusing(says(550, "5.1.1 no such user"))
      const later = yield* refusing(says(451, "4.7.1 try again later"))
      const relaying = yield* refusing(says(554, "5.7.1 relay access denied"))
      const sender = yield* serving({ onMailFrom: (_address, _session, done) => done(says(550, "5.1.8 bad sender")) })
      const good = yield* serving()
      const retryable = (outcome: Result.Result<void, { readonly retryable: boolean }>) =>
        Result.isFailure(outcome) ? outcome.failure.retryable : null
      expect(retryable(yield* send(unknown.port, letter))).toBe(false)
      expect(retryable(yield* send(later.port, letter))).toBe(true)
      expect(retryable(yield* send(relaying.port, letter))).toBe(true)
      expect(retryable(yield* send(sender.port, letter))).toBe(true)
      expect(retryable(yield* send(good.port, letter, { password: "wrong" }))).toBe(true)
      expect(retryable(yield* send(1, letter))).toBe(true)
      expect(retryable(yield* send(good.port, letter, { host: "nowhere.invalid" }))).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.live("is tried again when the connection breaks behind the message: nobody knows whether it was taken", () =>
    Effect.gen(function* () {
      let got = 0
      const { port, sockets } = yield* serving({
        onData: (stream) => {
          stream.resume()
          stream.on("end", () => {
            got++
            for (const socket of sockets) socket.destroy()
          })
        }
      })
      expect(yield* send(port, letter)).toMatchObject({ _tag: "Failure", failure: { retryable: true } })
      expect(got).toBeGreaterThan(0)
    }).pipe(Effect.scoped)
  )
})
