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

/** Reports debts and reservations. When the database does not answer within `timeout`, the last figures remain. */
export const update = Effect.gen(function* () {
  const accounts = yield* Accounts
  const sql = yield* SqlClient.SqlClient
  const read = sql<Figures>`
    SELECT (SELECT coalesce(-sum(balance_cents), 0) FROM balance WHERE balance_cents < 0) AS owed_cents,
      (SELECT count(*) FROM tenant WHERE status = 'suspended') AS suspended`
  return (timeout: "1 second") =>
    Effect.andThen(
      Effect.flatMap(accounts.reservedCents, (cents) => Metric.update(reserved, cents)),
      read.pipe(
        Effect.timeout(timeout),
        Effect.flatMap(([figures]) =>
          figures === undefined
            ? Effect.void
            : Effect.asVoid(
                Effect.all([Metric.update(owed, figures.owedCents), Metric.update(suspended, figures.suspended)])
              )
        ),
        Effect.catchCause(() => Effect.void)
      )
    )
})
