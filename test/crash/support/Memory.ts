import * as Client from "./peer/Client.ts"
import type { World } from "./World.ts"

/** Calls of each tenant that are read one by one. */
const sampleSize = 10

/**
 * The service answers as its rows do, also where it answers from memory: how many calls there are and how they ended,
 * and, when all calls have ended, what a tenant has, has spent and has reserved.
 */
export const violations = async (world: World): Promise<ReadonlyArray<string>> => {
  const database = world.database()
  const lines: Array<string> = []
  for (const { apiKey, id } of world.tenants) {
    const get = async (path: string): Promise<Readonly<Record<string, unknown>>> => {
      const answer = await Client.request(`${world.baseUrl}${path}`, { method: "GET", bearer: apiKey })
      return answer?.status === 200 ? JSON.parse(answer.body) : { status: answer?.status ?? "no answer" }
    }
    const compare = (what: string, told: unknown, is: unknown): void => {
      if (told !== is) lines.push(`tenant ${id} is told that ${what} is ${String(told)}, and it is ${String(is)}`)
    }
    const [row] = await database.query<{
      readonly calls: number
      readonly balance: number
      readonly spent: number
    }>(
      `SELECT (SELECT count(*)::int FROM call WHERE tenant_id = b.tenant_id) AS calls, balance_cents::float8 AS balance,
         (SELECT coalesce(-sum(amount_cents), 0)::float8 FROM ledger
          WHERE tenant_id = b.tenant_id AND amount_cents < 0 AND created_at >= date_trunc('month', now() AT TIME ZONE 'UTC')) AS spent
       FROM balance b WHERE tenant_id = $1`,
      [id]
    )
    compare("the number of calls", (await get("/v1/calls"))["count"], row?.calls)
    const account = (await get("/v1/account")) as { readonly balance?: { readonly balance_cents: number } }
    compare("the balance", account.balance?.balance_cents, row?.balance)
    const quota = await get("/v1/quota")
    compare("what was spent this month", quota["monthly_spend_cents"], row?.spent)
    compare("the number of live calls", quota["concurrent_calls"], 0)
    const { usage } = (await world.operate("tenant/show", { tenant: id })) as {
      readonly usage: Readonly<Record<string, unknown>>
    }
    compare("what is reserved", usage["reserved_cents"], 0)
    const calls = await database.query<{ readonly id: string; readonly status: string; readonly reason: string }>(
      `SELECT id, status, end_reason AS reason FROM call WHERE tenant_id = $1 ORDER BY initiated_at DESC LIMIT ${sampleSize}`,
      [id]
    )
    for (const call of calls) {
      const told = await get(`/v1/calls/${call.id}`)
      compare(`the status of ${call.id}`, told["status"], call.status)
      compare(`the end of ${call.id}`, told["end_reason"], call.reason)
    }
  }
  return lines
}
