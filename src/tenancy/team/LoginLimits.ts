import { Effect } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import * as SlidingWindow from "../../domain/fair/SlidingWindow.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"

interface Attempt {
  /** The e-mail address in its one spelling, whether it has an account or not. */
  readonly account: string
  readonly ip: string | null
  /** Whether the account's member has logged in from this network. It is asked only when it decides. */
  readonly isKnown: Effect.Effect<boolean>
}

export type LoginLimits = ReturnType<typeof make>

/**
 * Limits the logins that fail, guide/authentication.md#limits-of-logins: of an address, of a site, and of an account,
 * from wherever they come.
 *
 * The limit of an account does not hold for networks that are known for it, so a stranger cannot shut its member out.
 * It holds alike for addresses that have no account.
 */
export const make = () => {
  const { account, address, site } = Policies.logins
  const windows = {
    address: SlidingWindow.make(address),
    site: SlidingWindow.make(site),
    account: SlidingWindow.make(account, mostAccounts)
  }
  const limited = (waitMs: number) => ApiError.later(Math.ceil(waitMs / 1000))

  return {
    /**
     * Counts an attempt before its password is looked at, so that many at once are no way around. Returns what takes
     * the count back when the password is right. Fails with `rate_limited`.
     */
    enter: Effect.fnUntraced(function* (attempt: Attempt) {
      const now = yield* Monotonic.now
      const taken: Array<() => void> = []
      const back = () => {
        for (const undo of taken) undo()
      }
      const take = (window: SlidingWindow.SlidingWindow, holder: string): number => {
        const waitMs = window.take(holder, now)
        if (waitMs === 0) taken.push(() => window.undo(holder, now))
        return waitMs
      }
      const byPlace =
        take(windows.address, IpAddress.subscriber(attempt.ip)) || take(windows.site, IpAddress.site(attempt.ip))
      if (byPlace > 0) {
        back()
        return yield* limited(byPlace)
      }
      const byAccount = take(windows.account, attempt.account)
      if (byAccount > 0 && !(yield* attempt.isKnown)) {
        back()
        return yield* limited(byAccount)
      }
      return { succeeded: Effect.sync(back) }
    }),
    /** Forgets the attempts on an account, whose password is another one now. */
    forget: (account: string) => Effect.sync(() => windows.account.clear(account))
  } as const
}

/** The limit of addresses slows down attempts on so many other accounts that one would be forgotten. */
const mostAccounts = 100_000
