import { Context, Effect, Layer, Record } from "effect"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { ApiError } from "../../../domain/ApiError.ts"

/**
 * Limits of the unauthenticated routes, guide/limits.md#rates; no other route is limited.
 *
 * A sliding window allows at most `limit` valid requests of one subject in any `windowMs`. Refused requests do not
 * count.
 */
interface Rule {
  readonly limit: number
  readonly windowMs: number
}

const hourMs = 3_600_000

/** `SIGNUP_LIMIT_PER_HOUR` sets the limit of `signup`, and that of joining a team. */
const rules = (options: { readonly signupPerHour: number }) => ({
  signup: { limit: options.signupPerHour, windowMs: hourMs },
  verify_email: { limit: 20, windowMs: hourMs },
  resend_by_ip: { limit: 10, windowMs: hourMs },
  resend_by_email: { limit: 3, windowMs: hourMs },
  billing_webhook: { limit: 600, windowMs: 60_000 },
  reset_by_ip: { limit: 10, windowMs: hourMs },
  reset_by_email: { limit: 3, windowMs: hourMs },
  confirm_reset: { limit: 20, windowMs: hourMs },
  accept_invitation: { limit: options.signupPerHour, windowMs: hourMs },
  /** Counted by address and e-mail together. */
  login: { limit: 10, windowMs: hourMs / 4 }
})
export type RuleName = keyof ReturnType<typeof rules>

/** 429 with `Retry-After`. */
export class RateLimited extends ApiError {
  readonly retryAfterSecs: number
  constructor(retryAfterSecs: number) {
    super({ code: "rate_limited", message: `too many requests; try again in ${retryAfterSecs} s` })
    this.retryAfterSecs = retryAfterSecs
  }
}

/** The most subjects that are remembered for one rule; beyond that, the one counted longest ago is forgotten. */
const subjectLimit = 10_000

/** The times of one rule's requests. This is pure bookkeeping, in milliseconds of a monotonic clock. */
export const makeWindow = (rule: Rule, subjects = subjectLimit) => {
  const taken = new Map<string, Array<number>>()
  return {
    /** Counts one request and returns 0. When there is no room, it only returns the milliseconds until there is. */
    take: (subject: string, now: number): number => {
      const times = taken.get(subject) ?? []
      while (times[0] !== undefined && times[0] <= now - rule.windowMs) times.shift()
      const [oldest] = times
      if (oldest !== undefined && times.length >= rule.limit) return oldest + rule.windowMs - now
      times.push(now)
      taken.delete(subject)
      taken.set(subject, times)
      if (taken.size > subjects) taken.delete(taken.keys().next().value ?? "")
      return 0
    },
    size: () => taken.size
  }
}

export class RateLimit extends Context.Service<
  RateLimit,
  { readonly take: (rule: RuleName, subject: string) => Effect.Effect<void, RateLimited> }
>()("trunkline/http/RateLimit") {
  static readonly layer = (options: { readonly signupPerHour: number }) =>
    Layer.sync(RateLimit, () => {
      const windows = Record.map(rules(options), (rule) => makeWindow(rule))
      return RateLimit.of({
        take: Effect.fnUntraced(function* (rule, subject) {
          const waitMs = windows[rule].take(subject, yield* Monotonic.now)
          if (waitMs > 0) return yield* new RateLimited(Math.ceil(waitMs / 1000))
        })
      })
    })
}
