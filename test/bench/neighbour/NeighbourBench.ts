import { Effect } from "effect"
import { setTimeout as delay } from "node:timers/promises"
import * as World from "../../crash/support/World.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as Abuse from "./Abuse.ts"
import * as Abuses from "./Abuses.ts"
import * as Operations from "./Operations.ts"
import * as Quiet from "./Quiet.ts"

/**
 * `NEIGHBOUR_ONLY` names abuses, separated by commas. `NEIGHBOUR_CALLS` is the number of calls watched under each:
 * enough for a p99 that is not the second worst of them.
 */
const only = process.env["NEIGHBOUR_ONLY"]?.split(",")
/**
 * `NEIGHBOUR_ON_DISK=true` puts the database on the disk. A disk that is shared with other machines stalls for a tenth
 * of a second now and then, whatever tenants do, and one such stall is the p99 of a round.
 */
const isOnDisk = process.env["NEIGHBOUR_ON_DISK"] === "true"
const count = Number(process.env["NEIGHBOUR_CALLS"] ?? 400)
const perSecond = 10
/** The past deliveries of the abuser when its list is read. */
const pastDeliveries = 1_000_000

/** The p99 under abuse may be this many times the p99 alone, or `leastMs`, whichever is larger. */
const times = 3
const leastMs = 50

/**
 * One tenant abuses each thing that tenants share, in turn, while another places calls, gets their events and plays
 * prompts; then the operator repeats each command that has a large input. All of it is one run, so that a slow machine
 * slows both.
 */
export const run = Effect.gen(function* () {
  const world = yield* Effect.acquireRelease(
    Effect.promise(() => World.make({ tenants: 2, lean: true, inMemory: !isOnDisk })),
    (world) => Effect.promise(world.close)
  )
  return yield* Effect.promise(() => measure(world))
})

const measure = async (world: World.World): Promise<ReadonlyArray<Report.Figure>> => {
  const [abuser, quiet] = await prepare(world)
  const watch = () => Quiet.watch(world, quiet, { count, perSecond })
  await Quiet.watch(world, quiet, { count: 30, perSecond })
  const alone = await watch()
  const figures: Array<Report.Figure> = []
  const tell = (seen: ReadonlyArray<Report.Figure>): void => {
    figures.push(...seen)
    for (const { goal, met, value, what } of seen)
      console.error(`  ${what}: ${value}${met === null ? "" : ` (${goal}${met ? "" : ", MISSED"})`}`)
  }
  tell(rows("alone", alone, null))
  for (const name of Object.keys(Abuses.table) as ReadonlyArray<Abuses.Name>) {
    if (only?.includes(name) === false) continue
    if (name === "list readers") await deliver(world, abuser.id, pastDeliveries)
    const abuse = await Abuse.start(world, abuser, [name], 1)
    try {
      await delay(2000)
      tell(rows(name, await watch(), alone))
    } finally {
      await abuse.stop()
    }
    await endCalls(world, abuser)
    await delay(3000)
  }
  for (const operation of Operations.operations) {
    const { name, prepare } = operation
    if (only?.includes(name) === false) continue
    await prepare?.(world, abuser)
    const repeated = Operations.repeat(world, operation, abuser)
    try {
      await Operations.longestTurnMs(world)
      const seen = await watch()
      const longestMs = await Operations.longestTurnMs(world)
      tell([
        ...rows(name, seen, alone),
        Report.against(`${name}: longest turn, ms`, longestMs.toFixed(0), `≤ ${leastMs}`, longestMs <= leastMs)
      ])
    } finally {
      await repeated.stop()
    }
  }
  return figures
}

/** The abuser, whose events the quiet tenant's receiver does not get, and the other. */
export const prepare = async (world: World.World): Promise<readonly [World.Tenant, World.Tenant]> => {
  const [abuser, quiet] = world.tenants
  if (abuser === undefined || quiet === undefined) throw new Error("there are no two tenants")
  await dropSubscriptions(world, abuser)
  return [abuser, quiet]
}

/** Ends the remains of an abuse: calls, and subscriptions to receivers that are gone. */
export const endCalls = async (world: World.World, { apiKey, id }: World.Tenant): Promise<void> => {
  await dropSubscriptions(world, { apiKey })
  const live = await world
    .database()
    .query<{ readonly id: string }>(
      "SELECT id FROM entity WHERE tenant_id = $1 AND kind = 'call' AND NOT settled LIMIT 5000",
      [id]
    )
  const headers = { authorization: `Bearer ${apiKey}` }
  const hangUp = (id: string) =>
    fetch(`${world.baseUrl}/v1/calls/${id}/actions/hangup`, { method: "POST", headers }).catch(() => null)
  for (let n = 0; n < live.length; n += 20) await Promise.all(live.slice(n, n + 20).map(({ id }) => hangUp(id)))
}

const dropSubscriptions = async (world: World.World, { apiKey }: Pick<World.Tenant, "apiKey">): Promise<void> => {
  const headers = { authorization: `Bearer ${apiKey}` }
  const url = `${world.baseUrl}/v1/webhook-subscriptions`
  const { results } = (await fetch(`${url}?page_size=200`, { headers }).then((response) => response.json())) as {
    readonly results: ReadonlyArray<{ readonly id: string }>
  }
  for (const { id } of results) await fetch(`${url}/${id}`, { method: "DELETE", headers })
}

/** Gives a tenant finished deliveries. */
const deliver = (world: World.World, tenantId: string, deliveries: number): Promise<unknown> =>
  world.database().query(
    `INSERT INTO webhook_delivery (id, partition, tenant_id, event_id, event_type, subscription_id, destination, lane, sequence,
       attempt_no, status, created_at, sent_at)
     SELECT gen_random_uuid(), 0, $1, gen_random_uuid(), 'call.started', 'past', 'past', 'past', n, 1, 'delivered', now(), now()
     FROM generate_series(1, $2::int) AS n`,
    [tenantId, deliveries]
  )

const rows = (name: string, seen: Quiet.Seen, alone: Quiet.Seen | null): ReadonlyArray<Report.Figure> => {
  for (const problem of seen.problems.slice(0, 5)) console.error(`  ${name}: ${problem}`)
  const line = (what: string, of: (seen: Quiet.Seen) => ReadonlyArray<number>): Report.Figure => {
    const own = ms(of(seen))
    const value = `${own.p50.toFixed(1)} / ${own.p99.toFixed(1)}`
    if (alone === null) return Report.figure(`${name}: ${what}, ms p50 / p99`, value)
    const goal = Math.max(leastMs, times * ms(of(alone)).p99)
    return Report.against(`${name}: ${what}`, value, `p99 ≤ ${goal.toFixed(0)}`, own.p99 <= goal)
  }
  return [
    line("POST /v1/calls", ({ placeMs }) => placeMs),
    line("event to request", ({ eventMs }) => eventMs),
    line("prompt start", ({ promptMs }) => promptMs),
    Report.against(`${name}: calls heard whole`, `${seen.whole} of ${count}`, "all", seen.whole === count)
  ]
}

const ms = (values: ReadonlyArray<number>) => {
  const sorted = Float64Array.from(values).sort()
  return { p50: Rounds.percentile(sorted, 0.5), p99: Rounds.percentile(sorted, 0.99) }
}
