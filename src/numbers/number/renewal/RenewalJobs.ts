import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../money/account/Account.ts"
import { TenantId } from "../../../domain/Id.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { type Job, Jobs } from "../../../runtime/job/Jobs.ts"
import * as NumberRepo from "../NumberRepo.ts"
import * as Renewal from "./Renewal.ts"

/** A job whose key is the tenant. */
const kind = "number.renewal"
const sweepKind = "number.renewals"

/** The due numbers that a sweep looks at; the next one finds the others. */
const looked = 10_000
/** The numbers in one read and in one letter. */
const portion = 100
/** A tenant with more to renew continues with the next sweep, so that others have their turns. */
const turnMs = 20_000

/**
 * Schedules renewals: a sweep finds the tenants of due numbers, and each of them gets a job, so that a tenant with ten
 * thousand numbers does not delay another with one. Money that arrives makes the job due at once.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly forget: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<void>
}) {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* Accounts
  const jobs = yield* Jobs
  const renewal = yield* Renewal.make(options)
  const repo = yield* NumberRepo.make

  const put = (tenantId: TenantId) => jobs.enqueue({ kind, key: tenantId, tenantId }).pipe(sql.withTransaction)

  const renew = Effect.fn("Numbers.renew")(function* (tenantId: TenantId) {
    const began = yield* Monotonic.now
    while ((yield* Monotonic.now) - began < turnMs && (yield* renewal.releaseClosed(tenantId, portion)));
    let after: NumberRepo.Due | null = null
    while ((yield* Monotonic.now) - began < turnMs) {
      const now = yield* Clock.currentTimeMillis
      const numbers: ReadonlyArray<NumberRepo.DueNumber> = yield* repo.due(tenantId, now, after, portion)
      const unpaid = yield* Effect.filter(numbers, (number) =>
        Effect.map(renewal.settle({ ...number, tenantId }), (isPaid) => !isPaid)
      )
      if (unpaid.length > 0)
        yield* renewal.remind(
          tenantId,
          unpaid.map((number) => ({ ...number, tenantId }))
        )
      const last = numbers.at(-1)
      if (last === undefined || numbers.length < portion) return
      after = { at: last.dueAt, id: last.id }
    }
  })

  const sweep = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* Effect.forEach(yield* repo.renewable(now, looked), put, { discard: true })
  })

  // A failure here is only logged, because the sweep finds the same numbers.
  yield* accounts.onMoneyMoved((tenantId) =>
    Effect.flatMap(repo.owes(tenantId), (owes) => (owes ? put(tenantId) : Effect.void)).pipe(
      Effect.catchCause((cause) => Effect.logWarning("numbers are renewed with the next sweep", cause))
    )
  )

  return [
    {
      kind,
      concurrency: 4,
      timeoutMs: 120_000,
      retry: { attempts: 10, firstMs: 5_000, maxMs: 300_000 },
      run: ({ key }) => renew(TenantId.make(key))
    },
    {
      kind: sweepKind,
      concurrency: 1,
      timeoutMs: 60_000,
      retry: { attempts: 10, firstMs: 5_000, maxMs: 60_000 },
      everyMs: 60_000,
      run: () => sweep
    }
  ] satisfies ReadonlyArray<Job>
})
