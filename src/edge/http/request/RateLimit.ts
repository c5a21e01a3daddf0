import { Context, Effect, Layer, Record } from "effect"
import * as Policies from "../../../domain/fair/Policies.ts"
import * as SlidingWindow from "../../../domain/fair/SlidingWindow.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { ApiError } from "../../../domain/ApiError.ts"

export type RuleName = keyof ReturnType<typeof Policies.unauthenticated>

/** Enforces the limits of the routes without a key (`Policies.unauthenticated`); no other route is limited. */
export class RateLimit extends Context.Service<
  RateLimit,
  { readonly take: (rule: RuleName, subject: string) => Effect.Effect<void, ApiError> }
>()("trunkline/http/RateLimit") {
  static readonly layer = (options: { readonly signupPerHour: number }) =>
    Layer.sync(RateLimit, () => {
      const windows = Record.map(Policies.unauthenticated(options), (rule) => SlidingWindow.make(rule))
      return RateLimit.of({
        take: Effect.fnUntraced(function* (rule, subject) {
          const waitMs = windows[rule].take(subject, yield* Monotonic.now)
          if (waitMs > 0) return yield* ApiError.later(Math.ceil(waitMs / 1000))
        })
      })
    })
}
