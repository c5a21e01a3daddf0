import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import { ApiKeys } from "../apikey/ApiKey.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as EmailAddress from "../../domain/EmailAddress.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import type { Rendered } from "../../runtime/idempotency/Slot.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import { Passwords } from "../tenant/Tenant.ts"
import type { LoginLimits } from "./LoginLimits.ts"
import * as TeamRepo from "./TeamRepo.ts"
import * as TeamView from "./TeamView.ts"

const lifetimeMs = 12 * 3_600_000
/** The logins of a member that make networks known. */
const lookback = 200

const wrong = ApiError.of("invalid_credentials", "the e-mail address or the password is wrong")

/**
 * Gives a member who knows the password a key for twelve hours, guide/authentication.md#login. An unknown address, a
 * wrong password and a disabled member get the same answer, in the same time.
 */
export const make = Effect.fnUntraced(function* (limits: LoginLimits) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const apiKeys = yield* ApiKeys
  const passwords = yield* Passwords
  const repo = yield* TeamRepo.make

  return Effect.fn("Login")(function* (email: string, password: string, ip: string | null) {
    const account = EmailAddress.canonical(email)
    const member = yield* repo.credentials(account)
    const isKnown = Effect.map(repo.networks(member?.id ?? null, lookback), (ips) =>
      ips.some((known) => ip !== null && IpAddress.subscriber(known) === IpAddress.subscriber(ip))
    )
    const attempt = yield* limits.enter({ account, ip, isKnown })
    const isRight = yield* passwords.matches(password, member?.passwordHash ?? null, ip)
    if (member === null || !isRight) return yield* wrong
    yield* attempt.succeeded
    const at = yield* Clock.currentTimeMillis
    const { id, tenantId } = member
    const name = `${member.firstName} ${member.lastName}`
    const expiresAtMs = at + lifetimeMs
    const seed = entropy.hex(16)
    return yield* Effect.gen(function* () {
      // A change of the member does not see a key that another transaction is making, so they take turns.
      yield* repo.lock(tenantId)
      const role = yield* repo.loggedIn(member, at)
      if (role === null) return yield* wrong
      const key = yield* apiKeys.loginWithin({ tenantId, member: { id, name, role }, at, expiresAtMs, ip, seed })
      const line = Audit.line({
        tenantId,
        at,
        seed,
        actor: { type: "user", id, name },
        ip,
        action: "user.logged_in",
        resourceId: id,
        changes: [{ field: "api_key_id", from: null, to: key.id }]
      })
      yield* journal.commitWithin({ ...empty, audit: [line] })
      const body = TeamView.loggedIn({ apiKeyPlaintext: key.plaintext, expiresAt: expiresAtMs })
      return { status: 200, body: JSON.stringify(body) } satisfies Rendered
    }).pipe(transaction)
  })
})
