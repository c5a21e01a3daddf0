import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import { ApiKeys } from "../apikey/ApiKey.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as EmailAddress from "../../domain/EmailAddress.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { Rendered } from "../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as Letters from "../../ports/letter/Letter.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type { TenantId, UserId } from "../../domain/Id.ts"
import { EarlierAccess, Passwords } from "../tenant/Tenant.ts"
import type { LoginLimits } from "./LoginLimits.ts"
import * as TeamRepo from "./TeamRepo.ts"
import * as Token from "./Token.ts"

export interface Confirmation {
  readonly token: string
  readonly newPassword: string
  /** Whether everything ends that was made before, guide/authentication.md#earlier-access. */
  readonly endEarlierAccess: boolean
}

const lifetimeMs = 3_600_000
const kind = "password_reset.asking"

const unusable = ApiError.of("invalid_request", "the token is unknown, used or expired", "token")

/**
 * A new password by a link in a letter, guide/authentication.md#password-reset. The link is valid once and for an hour.
 *
 * The request is a row, whatever its address, and is answered before the address is looked up. So neither the answer
 * nor its time reveals whether an address is known. The letter goes to the address that is stored.
 */
export const make = Effect.fnUntraced(function* ({
  baseUrl,
  limits
}: {
  readonly baseUrl: string
  readonly limits: LoginLimits
}) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const jobs = yield* Jobs
  const letters = yield* Letters.Letters
  const apiKeys = yield* ApiKeys
  const passwords = yield* Passwords
  const repo = yield* TeamRepo.make
  const earlier = yield* EarlierAccess.make

  const write = Effect.fnUntraced(
    function* (email: string) {
      const member = yield* repo.credentials(email)
      if (member === null) return
      const at = yield* Clock.currentTimeMillis
      const token = Token.make(entropy.bytes(32))
      const hash = Token.hashOf(token)
      const until = at + lifetimeMs
      yield* repo.insertReset({ tokenHash: hash, memberId: member.id, createdAt: at, expiresAt: until })
      yield* letters.askWithin({
        kind: "password_reset",
        cause: `password_reset:${hash}`,
        tenantId: member.tenantId,
        to: member.email,
        letter: {
          subject: "Choose a new password",
          paragraphs: [
            // An address that was never confirmed may be another person's, whom no stranger's words greet.
            member.isVerified ? Letters.greeting(member.firstName) : "Hello,",
            "somebody asked for a new password for this address. The link works once, for an hour.",
            "If it was not you, ignore this message: nothing has changed."
          ],
          link: { label: "Choose a new password", url: `${baseUrl}/reset-password#${token}` }
        },
        untilMs: until
      })
      // Without its letter there is no token. The answer is the same.
    },
    transaction,
    Effect.catchTag("LetterLimited", () => Effect.void)
  )
  jobs.declare({
    kind,
    concurrency: 4,
    timeoutMs: 60_000,
    retry: { attempts: Infinity, firstMs: 5_000, maxMs: 600_000 },
    run: ({ key }) => write(key)
  })

  const request = (email: string): Effect.Effect<Rendered> =>
    jobs
      .enqueue({ kind, key: EmailAddress.canonical(email), tenantId: null })
      .pipe(transaction, Effect.as({ status: 202, body: "{}" }))

  const confirm = Effect.fn("PasswordReset.confirm")(function* (request: Confirmation, ip: string | null) {
    const { endEarlierAccess, newPassword, token } = request
    const hash = Token.hashOf(token)
    const find = Effect.flatMap(Clock.currentTimeMillis, (at) => repo.resetting(hash, at))
    const member = yield* find
    if (member === null) return yield* unusable
    // When many requests have one token, none is hashed for after the first has succeeded.
    const isUsable = Effect.flatMap(find, (found) => (found === null ? Effect.fail(unusable) : Effect.void))
    const passwordHash = yield* passwords.hash(newPassword, ip, isUsable)
    const at = yield* Clock.currentTimeMillis
    const seed = entropy.hex(16)
    const { email, id, tenantId } = member
    const isFirst = yield* Effect.gen(function* () {
      yield* repo.lock(tenantId)
      if (!(yield* repo.useReset(hash, id, at)) || !(yield* repo.setPassword(id, passwordHash))) return yield* unusable
      const actor = { type: "user", id, name: `${member.firstName} ${member.lastName}` } as const
      const by = { tenantId, at, seed, actor, ip }
      // Before the first proof, the address may have been signed up by a stranger.
      const proven = yield* earlier.proveWithin({ tenantId, memberId: id, email, at, seed })
      const ended =
        proven !== null || endEarlierAccess
          ? yield* earlier.endWithin({ tenantId, memberId: id, at }, by)
          : { of: "logins" as const, lines: yield* loginsOf(member, by) }
      yield* letters.postWithin({
        cause: `password_changed:${hash}`,
        tenantId,
        to: email,
        letter: {
          subject: "Your password was changed",
          paragraphs: [
            proven === null ? Letters.greeting(member.firstName) : "Hello,",
            `your password was changed by a link that was sent to this address, and ${words[ended.of]}.`,
            "If it was not you, choose a new password at once and look at your mailbox: somebody else can read it."
          ],
          link: null
        }
      })
      yield* journal.commitWithin({
        ...empty,
        money: proven?.money ?? [],
        audit: [
          Audit.line({ ...by, action: "user.password_reset", resourceId: id }),
          ...(proven === null ? [] : [Audit.line({ ...by, action: "user.email_verified", resourceId: id })]),
          ...ended.lines
        ]
      })
      return proven !== null
    }).pipe(
      transaction,
      // Runs even if the answer of the commit was lost.
      Effect.ensuring(earlier.changed(tenantId)),
      Effect.uninterruptible
    )
    if (isFirst) yield* earlier.verified(tenantId)
    yield* limits.forget(email)
    return { status: 200, body: "{}" } satisfies Rendered
  })

  const loginsOf = Effect.fnUntraced(function* (
    member: { readonly id: UserId; readonly tenantId: TenantId },
    by: Audit.By & { readonly tenantId: TenantId; readonly at: number; readonly seed: string }
  ) {
    const keys = yield* apiKeys.revokeOfWithin(member, "logins", by.at)
    return keys.map((key) => Audit.line({ ...by, action: "api_key.revoked", resourceId: key }))
  })

  return { request, confirm }
})

/** The access that a reset has ended, in the words of its letter. */
const words = {
  workspace:
    "all keys, logins and invitations of the workspace have ended, its other members are disabled, and no webhooks are sent any more",
  member: "all your logins, keys and invitations have ended",
  logins: "all logins have ended"
} as const
