import { Clock, Effect } from "effect"
import { hash } from "node:crypto"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as EmailAddress from "../../domain/EmailAddress.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { Rendered } from "../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as Letters from "../../ports/letter/Letter.ts"
import { Mail } from "../../ports/mail/Mail.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as AddressIdentity from "./AddressIdentity.ts"
import * as EarlierAccess from "./EarlierAccess.ts"
import { Onboarding } from "./Onboarding.ts"
import * as TenantRepo from "./TenantRepo.ts"
import * as TenantView from "./TenantView.ts"

export interface Confirmation {
  readonly token: string
  /** Whether everything ends that was made before, guide/authentication.md#earlier-access. */
  readonly endEarlierAccess: boolean
}

export const lifetimeMs = 7 * 24 * 3_600_000

const unusable = ApiError.of("invalid_request", "the token is unknown, used or expired", "token")

/**
 * Verification of e-mail addresses, guide/tenants.md#e-mail-verification. A token is 32 random bytes, is stored as a
 * hash, and is valid once and for seven days.
 *
 * No answer waits for a mail server, nor for a lookup of the address: a request for another letter is a row, whatever
 * its address. So the time of an answer does not reveal whether an address is known.
 */
export const make = Effect.fnUntraced(function* ({ baseUrl }: { readonly baseUrl: string }) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const onboarding = yield* Onboarding
  const mail = yield* Mail
  const letters = yield* Letters.Letters
  const jobs = yield* Jobs
  const entropy = yield* Entropy
  const repo = yield* TenantRepo.make
  const earlier = yield* EarlierAccess.make

  /** Inside the caller's transaction, makes a token for a member and posts the letter with it, within its limits. */
  const askWithin = Effect.fnUntraced(function* (member: TenantRepo.Unverified, at: number) {
    const token = Buffer.from(entropy.bytes(32)).toString("base64url")
    const untilMs = at + lifetimeMs
    yield* letters.askWithin({
      kind: "verification",
      cause: `verification:${hashOf(token)}`,
      tenantId: member.tenantId,
      to: member.email,
      letter: letterOf(`${baseUrl}/verify-email#${token}`),
      untilMs
    })
    yield* repo.insertToken({ tokenHash: hashOf(token), memberId: member.id, createdAt: at, expiresAt: untilMs })
  })

  const again = Effect.fnUntraced(
    function* (email: string) {
      const member = yield* repo.unverified(email)
      if (member !== null) yield* askWithin(member, yield* Clock.currentTimeMillis)
      // Without its letter there is no token. The answer is the same.
    },
    transaction,
    Effect.catchTag("LetterLimited", () => Effect.void)
  )
  jobs.declare({
    kind: resending,
    concurrency: 4,
    timeoutMs: 60_000,
    retry: { attempts: 10, firstMs: 5_000, maxMs: 600_000 },
    run: ({ key }) => again(key)
  })

  const verify = Effect.fn("EmailVerification.verify")(function* (request: Confirmation, ip: string | null) {
    const { endEarlierAccess, token } = request
    const at = yield* Clock.currentTimeMillis
    const tenantId = yield* repo.verifying(hashOf(token))
    if (tenantId === null) return yield* unusable
    const member = yield* Effect.gen(function* () {
      // The tenant is locked before its members are, as every change of a team does it.
      yield* repo.lock(tenantId)
      const member = yield* repo.useToken(hashOf(token), at)
      if (member === null) return null
      const seed = entropy.hex(16)
      const by = { actor: { type: "user", id: member.memberId, name: member.name }, ip } as const
      const ended = endEarlierAccess ? (yield* earlier.endWithin({ ...member, at }, by)).lines : []
      // A stranger who signed the address up knows the password.
      if (endEarlierAccess) yield* repo.endPassword(member.memberId)
      const line = Audit.line({
        ...by,
        tenantId: member.tenantId,
        at,
        seed,
        action: "user.email_verified",
        resourceId: member.memberId
      })
      const identity = AddressIdentity.of(member.email)
      const money = yield* onboarding.trialWithin({ id: member.tenantId, at, seed, identity })
      yield* journal.commitWithin({ ...empty, money, audit: [line, ...ended] })
      return { ...member, tenant: yield* repo.find(member.tenantId) }
    }).pipe(
      transaction,
      // Runs even if the answer of the commit was lost.
      Effect.ensuring(endEarlierAccess ? earlier.changed(tenantId) : Effect.void)
    )
    if (member === null) return yield* unusable
    yield* onboarding.verified(member.tenantId)
    // The token is used, so the answer succeeds even if the database fails now.
    const tenant = yield* Effect.catchCause(repo.find(member.tenantId), () => Effect.succeed(member.tenant))
    if (tenant === null) return yield* Effect.die(new Error(`member ${member.memberId} has no tenant`))
    const body = TenantView.verified({ emailVerified: true, tenant })
    return { status: 200, body: JSON.stringify(body) } satisfies Rendered
  }, Effect.uninterruptible)

  /** Suspends unverified tenants after seven days (only where mail reaches people); reactivates verified ones. */
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
    askWithin,
    verify,
    /** Every address gets the same answer, in the same time. */
    resend: (email: string): Effect.Effect<Rendered> =>
      jobs
        .enqueue({ kind: resending, key: EmailAddress.canonical(email), tenantId: null })
        .pipe(transaction, Effect.as({ status: 202, body: "{}" })),
    sweep
  }
})

const resending = "email_verification.resend"

const hashOf = (token: string): string => hash("sha256", token, "hex")

/** The address may be another person's, whom no stranger's words greet. */
const letterOf = (url: string): Letters.Letter => ({
  subject: "Confirm your e-mail address",
  paragraphs: [
    "Hello,",
    "please confirm your address within seven days; otherwise your workspace is suspended until you do.",
    "If you did not sign up, somebody else has used your address. Ignore this message, or take the workspace over: the page of the link can end all keys, logins and members that were made before."
  ],
  link: { label: "Confirm the address", url }
})
