import { Effect, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../money/account/Account.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const owed = gauge("balances_owed_cents", "What tenants owe: the sum of all balances below zero, as a positive number")
const reserved = gauge("balances_reserved_cents", "What live calls reserve, of the accounts in memory")
const suspended = gauge("tenants_suspended", "Tenants that are suspended now")

interface Figures {
  readonly owedCents: number
  readonly suspended: number
}

/** Reports reservations, and then debts, which the database has. */
export const update = Effect.gen(function* () {
  const accounts = yield* Accounts
  const sql = yield* SqlClient.SqlClient
  const read = sql<Figures>`
    SELECT (SELECT coalesce(-sum(balance_cents), 0) FROM balance WHERE balance_cents < 0) AS owed_cents,
      (SELECT count(*) FROM tenant WHERE status = 'suspended') AS suspended`
  return Effect.gen(function* () {
    yield* Metric.update(reserved, yield* accounts.reservedCents)
    const [figures] = yield* read
    if (figures === undefined) return
    yield* Metric.update(owed, figures.owedCents)
    yield* Metric.update(suspended, figures.suspended)
  })
})
