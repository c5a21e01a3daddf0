import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type * as World from "../../crash/support/World.ts"

/**
 * Each command of the operator that has a large input or a large answer, with the largest that the guide allows, or
 * that an installation of some size has. Each is repeated while the quiet tenant is watched.
 */
export interface Operation {
  readonly name: string
  /** Gives the database what the command reads. */
  readonly prepare?: (world: World.World, tenant: World.Tenant) => Promise<unknown>
  /** The body of the `nth` run; `route` is the command's path at the door. */
  readonly route: string
  readonly body: (nth: number, tenant: World.Tenant) => object
}

/** The most records of an import (`CsvTable`). */
const records = 200_000
const entries = 200_000
const month = 31 * 86_400_000

const prefixOf = (index: number): string => `${1_000_000 + index}`

const deck = (nth: number): string => {
  const lines = ["direction,prefix,micro_usd_per_minute,first_secs,step_secs", "outbound,,10000,60,60"]
  for (let index = 1; index < records; index++)
    lines.push(`outbound,${prefixOf(index)},${10_000 + ((index + nth) % 977)},30,6`)
  return lines.join("\n")
}

const inventory = (nth: number): string => {
  const lines = ["phone_number,country_code,number_type,region,locality,upfront_cost_cents,monthly_cost_cents"]
  for (let index = 0; index < records; index++)
    lines.push(`+1213${5_000_000 + index},US,local,CA,"Los Angeles, ${index % 50}",100,${200 + (nth % 5)}`)
  return lines.join("\n")
}

/** Ledger entries of a tenant, without amounts. */
const book = (world: World.World, { id }: World.Tenant): Promise<unknown> =>
  world.database().query(
    `INSERT INTO ledger (id, tenant_id, created_at, type, amount_cents, balance_after_cents, cause, description)
     SELECT 'svc_ledger_' || lpad(to_hex(n), 32, '0'), $1, now(), 'adjustment', 0, b.balance_cents, 'past:' || n, 'past'
     FROM balance b, generate_series(1, $2::int) AS n WHERE b.tenant_id = $1`,
    [id, entries]
  )

/** Records of calls that have ended, all like one of them. */
const talk = (world: World.World, { id }: World.Tenant): Promise<unknown> =>
  world.database().query(
    `INSERT INTO call
     SELECT (jsonb_populate_record(c, jsonb_build_object('id', 'svc_call_' || md5(n::text)))).*
     FROM (SELECT c FROM call c WHERE tenant_id = $1 AND ended_at IS NOT NULL LIMIT 1) AS one,
       generate_series(1, $2::int) AS n`,
    [id, entries]
  )

const period = () => ({
  from: new Date(Date.now() - month).toISOString(),
  to: new Date(Date.now() + 3_600_000).toISOString()
})

export const operations: ReadonlyArray<Operation> = [
  { name: "rates import", route: "rates/import", body: (nth) => ({ csv: deck(nth) }) },
  { name: "rates diff", route: "rates/diff", body: (nth) => ({ csv: deck(nth + 1) }) },
  { name: "rates list", route: "rates/list", body: () => ({}) },
  { name: "cost import", route: "cost/import", body: (nth) => ({ trunk: "127.0.0.1", csv: deck(nth) }) },
  { name: "margin", route: "margin", body: () => ({ ...period(), by: "destination" }) },
  { name: "numbers import", route: "numbers/import", body: (nth) => ({ csv: inventory(nth) }) },
  { name: "cdr export", route: "cdr/export", prepare: talk, body: period },
  { name: "ledger list", route: "ledger/list", prepare: book, body: (_, { id }) => ({ tenant: id, limit: 200 }) },
  { name: "ledger export", route: "ledger/export", body: (_, { id }) => ({ tenant: id }) },
  { name: "ledger verify", route: "ledger/verify", body: () => ({}) },
  { name: "audit list", route: "audit/list", body: (_, { id }) => ({ tenant: id, limit: 200 }) },
  { name: "backup", route: "backup", body: () => ({ passphrase: "correct horse battery" }) }
]

/** Repeats a command until `stop`, which waits for the last run. */
export const repeat = (world: World.World, operation: Operation, tenant: World.Tenant) => {
  const stopping = new AbortController()
  const loop = async (): Promise<void> => {
    for (let nth = 0; !stopping.signal.aborted; nth++) await run(world, operation, nth, tenant)
  }
  const done = loop()
  done.catch(() => undefined)
  return {
    stop: (): Promise<void> => {
      stopping.abort()
      return done
    }
  }
}

/** Runs a command and reads its answer to the end, as fast as it comes. */
const run = async (world: World.World, { body, route }: Operation, nth: number, tenant: World.Tenant) => {
  const token = (await readFile(join(world.dataDir, "operator.token"), "utf8")).trim()
  const response = await fetch(`http://127.0.0.1:${world.ports.operator}/operator/${route}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body(nth, tenant))
  })
  let bytes = 0
  let last = ""
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (!response.ok) last += Buffer.from(chunk).toString()
  }
  if (!response.ok) throw new Error(`${route}: ${response.status} ${last}`)
  return bytes
}

/** The longest turn of the service's main thread since the last call, in milliseconds. */
export const longestTurnMs = async ({ ports }: World.World): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${ports.operator}/metrics`)).text()
  return 1_000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1])
}
