import { Clock, Effect, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { Entropy } from "../actor/Entropy.ts"
import * as Supervised from "../actor/Supervised.ts"
import * as Audit from "../audit/Audit.ts"
import type { UserId } from "../domain/Id.ts"
import { ApiError } from "../domain/ApiError.ts"
import type { Rendered } from "../idempotency/Slot.ts"
import { Jobs } from "../job/Jobs.ts"
import * as Mail from "../mail/Mail.ts"
import { empty, Journal } from "../store/Journal.ts"
import * as AddressIdentity from "./AddressIdentity.ts"
import { Onboarding } from "./Onboarding.ts"
import * as TenantRepo from "./TenantRepo.ts"
import * as TenantView from "./TenantView.ts"

export const lifetimeMs = 7 * 24 * 3_600_000

/** Letters that wait to be written; further ones are dropped (their senders may ask again). */
const lettersWaiting = 256

interface Letter {
  readonly email: string
  readonly firstName: string
  readonly token: string
}

/**
 * Verification of e-mail addresses, guide/tenants.md#e-mail-verification. A token is 32 random bytes, is kept as a
 * hash, and is good once and for seven days.
 *
 * A fiber of its own writes each mail after its commit. So no answer waits for a mail server, and the time that an
 * answer takes does not tell whether an address is known.
 */
export const make = Effect.fnUntraced(function* ({ baseUrl }: { readonly baseUrl: string }) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const onboarding = yield* Onboarding
  const mail = yield* Mail.Mail
  const jobs = yield* Jobs
  const entropy = yield* Entropy
  const repo = yield* TenantRepo.make

  const letters = yield* Queue.dropping<Letter>(lettersWaiting)
  yield* Supervised.fork(
    "the post of verification mails",
    Queue.take(letters).pipe(
      Effect.flatMap((letter) =>
        Effect.ignore(mail.send(messageOf(letter, baseUrl)), {
          log: "Warn",
          message: "a verification mail was not sent"
        })
      ),
      Effect.forever
    )
  )

  /** Makes a token for a member, and gives it in clear, for `post`. */
  const issue = Effect.fnUntraced(function* (memberId: UserId, at: number) {
    const token = Buffer.from(entropy.bytes(32)).toString("base64url")
    yield* repo.insertToken({ hash: hashOf(token), memberId, at, expiresAt: at + lifetimeMs })
    return token
  })
  const post = (letter: Letter): void => void Queue.offerUnsafe(letters, letter)

  const asked = yield* Queue.dropping<string>(lettersWaiting)
  const again = Effect.fnUntraced(function* (email: string) {
    const member = yield* repo.unverified(email)
    if (member === null) return
    post({ email, firstName: member.firstName, token: yield* issue(member.id, yield* Clock.currentTimeMillis) })
  })
  yield* Supervised.fork(
    "the repetition of verification mails",
    Queue.take(asked).pipe(
      Effect.flatMap((email) =>
        Effect.catchCause(again(email), (cause) => Effect.logWarning("a verification could not be resent", cause))
      ),
      Effect.forever
    )
  )

  const verify = Effect.fn("EmailVerification.verify")(function* (token: string, ip: string | null) {
    const at = yield* Clock.currentTimeMillis
    const member = yield* Effect.gen(function* () {
      const member = yield* repo.useToken(hashOf(token), at)
      if (member === null) return null
      const seed = entropy.hex(16)
      const line = Audit.line({
        tenantId: member.tenantId,
        at,
        seed,
        actor: { type: "user", id: member.memberId, name: null },
        ip,
        action: "user.email_verified",
        resourceType: "user",
        resourceId: member.memberId
      })
      const identity = AddressIdentity.of(member.email)
      const money = yield* onboarding.trialWithin({ id: member.tenantId, at, seed, identity })
      yield* journal.commitWithin({ ...empty, money, audit: [line] })
      return { ...member, tenant: yield* repo.find(member.tenantId) }
    }).pipe(sql.withTransaction, Effect.orDie)
    if (member === null) return yield* ApiError.of("invalid_request", "the token is unknown, used or expired", "token")
    yield* onboarding.verified(member.tenantId)
    // The token is used: whatever the database does now, this has happened.
    const tenant = yield* Effect.catchCause(repo.find(member.tenantId), () => Effect.succeed(member.tenant))
    if (tenant === null) return yield* Effect.die(new Error(`member ${member.memberId} has no tenant`))
    const body = TenantView.verified({ emailVerified: true, tenant })
    return { status: 200, body: JSON.stringify(body) } satisfies Rendered
  }, Effect.uninterruptible)

  /**
   * Suspends tenants that let seven days pass (only where mail reaches people), and frees those that have verified
   * since.
   */
  const sweep = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (mail.isReal)
      yield* Effect.forEach(yield* repo.overdue(now - lifetimeMs), onboarding.unverified, { discard: true })
    yield* Effect.forEach(yield* repo.verifiedButSuspended, onboarding.verified, { discard: true })
    yield* repo.deleteExpiredTokens(now - lifetimeMs)
  })
  jobs.declare({
    kind: "email_verification.sweep",
    everyMs: 3_600_000,
    concurrency: 1,
    timeoutMs: 600_000,
    retry: { attempts: Infinity, firstMs: 30_000, maxMs: 3_600_000 },
    run: () => sweep
  })

  return {
    issue,
    post,
    verify,
    /** The answer is the same, and as fast, for every address. */
    resend: (email: string): Effect.Effect<Rendered> =>
      Effect.sync(() => {
        Queue.offerUnsafe(asked, email.toLowerCase())
        return { status: 202, body: "{}" }
      }),
    sweep
  }
})

const hashOf = (token: string): string => hash("sha256", token, "hex")

const messageOf = ({ email, firstName, token }: Letter, baseUrl: string): Mail.MailMessage =>
  Mail.message({
    to: email,
    subject: "Confirm your e-mail address",
    lines: [
      `Hello ${firstName},`,
      "",
      "confirm your address within seven days, or your workspace is suspended until you do:",
      "",
      `  curl -X POST ${baseUrl}/v1/auth/verify-email -H 'Content-Type: application/json' -d '{"token":"${token}"}'`,
      "",
      "If you did not sign up, ignore this message."
    ]
  })
