import { readdir } from "node:fs/promises"
import { setTimeout as delay } from "node:timers/promises"
import * as NpmStart from "../../../support/service/NpmStart.ts"
import * as Invariants from "../Invariants.ts"
import * as Patience from "../Patience.ts"
import * as SipPeer from "../peer/SipPeer.ts"
import type { World } from "../World.ts"

/** A way in which the service comes to its end, or to the loss of its log, while calls talk. */
export interface WayOut {
  readonly name: string
  /** How the process ends. */
  readonly ends: string
  /** Makes it end and waits for that. */
  readonly take: (world: World, random: () => number) => Promise<string>
}

/** A service that closes in order needs a second or two, on a machine that is busy with other tests some more. */
const endsWithinMs = 60_000

/** All processes of the service, as a supervisor sees them that signals a group at once. */
const all = (world: World) => NpmStart.family(world.service().pid)

const signalAll = async (
  world: World,
  ordered: (processes: ReadonlyArray<NpmStart.Started>) => ReadonlyArray<NpmStart.Started>
) => {
  for (const { pid } of ordered(await all(world)))
    try {
      process.kill(pid, "SIGTERM")
    } catch {
      // It ended before its turn, because another one did.
    }
  return world.service().ended
}

const shuffled = <A>(items: ReadonlyArray<A>, random: () => number): ReadonlyArray<A> =>
  items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item)

export const ways = {
  SIGTERM: {
    name: "SIGTERM",
    ends: "exit code 0",
    take: (world) => world.service().kill("SIGTERM")
  },
  SIGHUP: {
    name: "SIGHUP",
    ends: "exit code 0",
    take: (world) => world.service().kill("SIGHUP")
  },
  uncaught: {
    name: "an error that nothing catches",
    ends: "exit code 1",
    take: (world) => world.service().throwUncaught("nothing catches this")
  },
  closedLog: {
    name: "a log whose reader goes away, and SIGTERM later",
    ends: "exit code 0",
    take: async (world) => {
      world.service().closeLog()
      // Each call writes to the log, which has no reader.
      await talking(world, "after the reader")
      return world.service().kill("SIGTERM")
    }
  },
  databaseFirst: {
    name: "SIGTERM to all processes at once, to Postgres first",
    ends: "exit code 0",
    take: (world) => signalAll(world, (processes) => processes.toReversed())
  },
  anyOrder: {
    name: "SIGTERM to all processes at once, in any order",
    ends: "exit code 0",
    take: (world, random) => signalAll(world, (processes) => shuffled(processes, random))
  }
} as const satisfies Readonly<Record<string, WayOut>>

let placed = 0

/** Places a call that talks until it is ended; waits until it is answered. */
const talking = async (world: World, why: string, carrier: "sip" | "simulator" = "simulator"): Promise<string> => {
  const [tenant] = world.tenants
  if (tenant === undefined) throw new Error("there is no tenant")
  const key = `way ${++placed} ${why}`
  const callee = carrier === "sip" ? { to: SipPeer.steadyNumber, route_id: tenant.sipRouteId } : { to: "+12025550100" }
  await world.client.command({
    apiKey: tenant.apiKey,
    key,
    path: "/v1/calls",
    body: { from: tenant.number, customer_reference: key, ...callee },
    mark: `call ${key}`
  })
  // A busy machine may refuse it with 503 at first.
  await world.client.repeatUnanswered()
  const answer = world.client.commands.findLast((command) => command.key === key)?.answer
  if (answer?.status !== 201) throw new Error(`${why}: ${answer?.status} ${answer?.body}`)
  const { id } = JSON.parse(answer.body) as { readonly id: string }
  const isUp = () => world.database().query("SELECT id FROM call WHERE id = $1 AND status = 'answered'", [id])
  for (const patience = Patience.make(30_000); (await isUp()).length === 0; await delay(50))
    if (patience.isOver()) throw new Error(`${why}: the call was not answered`)
  return id
}

interface EndRow {
  readonly reason: string | null
  readonly cents: number | null
}

/**
 * Takes this way out while calls talk, and starts the service again. Gives a line for each thing that is not as after a
 * stop by hand: the peer has its BYE, the calls are ended and billed by the process itself, Postgres has stopped, and
 * no process and no owner file is left.
 */
export const run = async (
  world: World,
  peer: SipPeer.OwnSipPeer,
  { ends, name, take }: WayOut,
  random: () => number
): Promise<ReadonlyArray<string>> => {
  const calls = [await talking(world, name, "sip"), await talking(world, name)]
  const lines = [...peer.dialogs.values()].filter(({ closed }) => closed === null)
  const processes = await all(world)
  const ended = await Patience.race(take(world, random), endsWithinMs, "it did not end")
  const violations = ended === ends ? [] : [`it ended with ${ended} instead of ${ends}`]
  for (const { closed } of lines)
    if (closed !== "hung up by the service") violations.push(`a line of the peer got no BYE: ${closed}`)
  for (const { command } of await NpmStart.remaining(processes, 5_000)) violations.push(`it left a process: ${command}`)
  for (const file of await readdir(world.dataDir))
    if (file.startsWith("owner-")) violations.push(`it left its owner file ${file}`)
  world.spawn()
  await world.ready()
  if (world.service().messages.has(recovered)) violations.push("the next process found calls that had not ended")
  for (const id of calls) {
    const [row] = await world
      .database()
      .query<EndRow>("SELECT end_reason AS reason, cost_cents AS cents FROM call WHERE id = $1", [id])
    if (row?.reason !== "carrier_error" || row.cents === null)
      violations.push(`call ${id} costs ${row?.cents} and ended with ${row?.reason}`)
  }
  const found = await Invariants.check(world, peer)
  return [...violations, ...found.filter((line) => !line.includes(thrown))]
}

/** The text of the error that a process is made to throw, which it has to report. */
const thrown = "nothing catches this"

/** A process logs this at level `info` when it ends calls of the one before it. */
const recovered = "calls and conferences of the process before this one were recovered"

/** A start on a busy machine, and what is left when the service has ended again. */
export interface BusyStart {
  readonly startMs: number
  readonly violations: ReadonlyArray<string>
}

/**
 * Starts the service, waits until it serves, and ends it: by SIGTERM, after which nothing is left, or by SIGKILL, so
 * that the next start recovers.
 */
export const startOnce = async (world: World, signal: "SIGTERM" | "SIGKILL"): Promise<BusyStart> => {
  const service = world.spawn()
  const since = performance.now()
  try {
    await world.ready()
  } catch (cause) {
    return { startMs: performance.now() - since, violations: [cause instanceof Error ? cause.message : String(cause)] }
  }
  const startMs = performance.now() - since
  const processes = await all(world)
  await service.kill(signal)
  if (signal === "SIGKILL") return { startMs, violations: [] }
  const left = await NpmStart.remaining(processes, 5_000)
  const owners = (await readdir(world.dataDir)).filter((file) => file.startsWith("owner-"))
  return {
    startMs,
    violations: [
      ...left.map(({ command }) => `it left a process: ${command}`),
      ...owners.map((file) => `it left ${file}`)
    ]
  }
}
