import { Effect } from "effect"
import type { TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { Letters } from "../../ports/letter/Letter.ts"
import type { AccountState } from "./AccountMachine.ts"
import * as Alarm from "./Alarm.ts"

/** How often the accounts in memory are checked. An account stays there for longer after its last charge. */
const everyMs = 60_000

/**
 * Sends the letters of `Alarm` to tenants, once for each crossing, because one transaction writes the letter and the
 * row that records it. The database is not asked again about letters that this process has sent.
 */
export const make = Effect.fnUntraced(function* (states: Effect.Effect<ReadonlyArray<AccountState>>) {
  const { sql, transaction } = yield* Sql.make
  const letters = yield* Letters
  const jobs = yield* Jobs
  /** The alarms that were sent, by tenant, for accounts in memory. */
  let told = new Map<TenantId, ReadonlySet<string>>()

  const tell = (tenantId: TenantId, { kind, letter, period }: Alarm.Alarm) =>
    Effect.gen(function* () {
      const [made] = yield* sql<{ readonly at: string }>`
        INSERT INTO account_alarm (tenant_id, kind, period, told_at) VALUES (${tenantId}, ${kind}, ${period}, now())
        ON CONFLICT DO NOTHING RETURNING told_at::text AS at`
      if (made === undefined) return
      const cause = `${kind}:${tenantId}:${period === "" ? made.at : period}`
      yield* letters.postToWithin({ cause, tenantId, audience: "billing", letter })
    }).pipe(transaction)

  const forget = (tenantId: TenantId) => sql`
    DELETE FROM account_alarm WHERE tenant_id = ${tenantId} AND kind = 'low_balance'`

  const look = Effect.gen(function* () {
    const before = told
    const now = new Map<TenantId, ReadonlySet<string>>()
    for (const state of yield* states) {
      const { tenantId } = state.settings
      const known = before.get(tenantId)
      const alarms = Alarm.of(state)
      const names = alarms.map(({ kind, period }) => `${kind} ${period}`)
      for (const [index, alarm] of alarms.entries())
        if (known?.has(names[index] ?? "") !== true) yield* tell(tenantId, alarm)
      // The next low balance is another crossing.
      if (!Alarm.isLow(state) && (known === undefined || known.has("low_balance "))) yield* forget(tenantId)
      now.set(tenantId, new Set(names))
    }
    told = now
  })

  jobs.declare({
    kind: "account.alarms",
    everyMs,
    concurrency: 1,
    timeoutMs: 60_000,
    retry: { attempts: Infinity, firstMs: 5_000, maxMs: 60_000 },
    run: () => look
  })
})
