import { setTimeout as delay } from "node:timers/promises"
import * as Client from "./peer/Client.ts"
import * as Errands from "./load/Errands.ts"
import * as Invariants from "./Invariants.ts"
import * as Load from "./load/Load.ts"
import * as Patience from "./Patience.ts"
import type { SipPeer } from "./peer/SipPeer.ts"
import type { World } from "./World.ts"

/** One death under load, and its consequences. */
export interface Round {
  /** How the process ended. */
  readonly death: string
  /** Calls that were up when it died. */
  readonly inFlight: number
  /** Requests that died with it and were repeated. */
  readonly repeated: number
  /** The time from spawning the next process until it serves. */
  readonly restartMs: number
  /** Empty: everything that must hold does. */
  readonly violations: ReadonlyArray<string>
}

interface Options {
  readonly load: Omit<Load.Options, "random" | "name">
  readonly name: string
  readonly random: () => number
  /** The time until kill -9, in milliseconds; null: the process dies at its crash point. */
  readonly killAfterMs: number | null
  /** Calls that are up when it is killed, on a slow machine too. */
  readonly leastInFlight?: number
  /** Conferences that were created when it is killed. */
  readonly leastRooms?: number
  /** Half way to its death its wall clock is set to this much more or less than the true time, in milliseconds. */
  readonly setWallClockMs?: number
  /** The time from the spawn of the next process until its own kill -9; absent: it is not killed. */
  readonly killAgainAfterMs?: number
  /** The crash point of the next process. */
  readonly nextCrashPoint?: string
}

/** A process that never reaches its crash point fails the round. */
const crashPointWithinMs = 30_000
/** A machine that is slower than this is killed with fewer calls. */
const loadWithinMs = 20_000
/** Requests from before the death that are sent again. */
const sampleSize = 20

/** How the process ended, and the earliest moment of its end on the monotonic clock. */
const death = async (
  world: World,
  { killAfterMs, leastInFlight = 0, leastRooms = 0 }: Options,
  { inFlight, rooms }: Pick<Load.Load, "inFlight" | "rooms">
): Promise<{ readonly how: string; readonly killedAt: number }> => {
  if (killAfterMs !== null) {
    await delay(killAfterMs)
    const isLittle = () => inFlight() < leastInFlight || rooms() < leastRooms
    for (const patience = Patience.make(loadWithinMs); isLittle() && !patience.isOver();) await delay(10)
    const killedAt = performance.now()
    return { how: await world.service().kill("SIGKILL"), killedAt }
  }
  world.service().armCrashPoint()
  const how = await Patience.race(world.service().ended, crashPointWithinMs, "it never came to its crash point")
  return { how, killedAt: performance.now() }
}

/** Runs the load, the death, the restart, the repetition of unanswered requests, and every check. */
export const run = async (world: World, peer: SipPeer | null, options: Options): Promise<Round> => {
  const { name, random } = options
  const before = world.client.commands.length
  const load = Load.start(world, { ...options.load, random, name })
  const errands = Errands.start(world, { random, name })
  const { killAfterMs, setWallClockMs } = options
  if (killAfterMs !== null && setWallClockMs !== undefined) {
    world.receiver.knowWallClock(setWallClockMs)
    void delay(killAfterMs / 2).then(() => world.service().setWallClock(setWallClockMs))
  }
  const { how, killedAt } = await death(world, options, load)
  const inFlight = load.inFlight()
  await Promise.all([load.stop(), errands.stop()])
  if (how !== "SIGKILL")
    return {
      death: how,
      inFlight,
      repeated: 0,
      restartMs: 0,
      violations: [`the process did not die by SIGKILL: ${how}`]
    }

  if (options.killAgainAfterMs !== undefined) {
    const next = world.spawn()
    await delay(options.killAgainAfterMs)
    await next.kill("SIGKILL")
  }
  const { startedAt } = world.spawn(options.nextCrashPoint)
  await world.ready()
  const restartMs = Date.now() - startedAt
  const repeated = await world.client.repeatUnanswered()
  const sample = world.client.commands
    .slice(before)
    .filter(() => random() < 0.5)
    .slice(-sampleSize)
  const violations = [
    ...(await world.client.repeatAnswered(sample)),
    ...(await Invariants.check(world, peer, { recorded: load.recorded(), killedAt })),
    ...(await answers(world))
  ]
  return { death: how, inFlight, repeated, restartMs, violations }
}

/** The API answers every tenant, and counts as many calls as the database. */
const answers = async (world: World): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  for (const { apiKey, id } of world.tenants) {
    const answer = await Client.request(`${world.baseUrl}/v1/calls`, { method: "GET", bearer: apiKey })
    const [row] = await world
      .database()
      .query<{ readonly count: number }>("SELECT count(*)::int AS count FROM call WHERE tenant_id = $1", [id])
    const count = answer?.status === 200 ? (JSON.parse(answer.body) as { readonly count: number }).count : null
    if (count !== row?.count)
      lines.push(`tenant ${id} is told of ${count} calls (${answer?.status}), there are ${row?.count}`)
  }
  return lines
}
