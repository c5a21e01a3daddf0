import { setTimeout as delay } from "node:timers/promises"
import * as Credentials from "./peer/Credentials.ts"
import * as Errands from "./load/Errands.ts"
import type { Fault, Stage } from "./Fault.ts"
import * as Invariants from "./Invariants.ts"
import * as Load from "./load/Load.ts"
import * as Memory from "./Memory.ts"
import * as Readiness from "./Readiness.ts"
import type { SipPeer } from "./peer/SipPeer.ts"

/** One fault under load that the process survived. */
export interface FaultRound {
  /** Calls that were up when it ended. */
  readonly inFlight: number
  /** Requests without an answer that were repeated. */
  readonly repeated: number
  /** Requests that got 503 and were not repeated. */
  readonly abandoned: number
  /** The time from the end of the fault until the service was ready again. */
  readonly readyMs: number
  /** Empty: everything that must hold does. */
  readonly violations: ReadonlyArray<string>
}

interface Options {
  readonly load: Omit<Load.Options, "random" | "name">
  readonly name: string
  /** How long all is well before the fault, and how long it lasts. */
  readonly warmUpMs: number
  readonly lastsMs: number
}

const readyWithinMs = 20_000
/** How long the load continues when all is well again. */
const afterMs = 1_000
const sampleSize = 20

const outageStarts = "nothing can be stored; commits wait"
const outageEnds = "commits are stored again"
/** A silence is named once a statement has reached its deadline. */
const namedWithinMs = 12_000
/** A cause is named once, and not as often as it is met. */
const repetitionLimit = (lastsMs: number) => Math.max(12, lastsMs / 250)

/** Runs the load, the fault, its end, the repetition of unanswered requests, and every check. */
export const run = async (
  stage: Stage,
  peer: SipPeer | null,
  fault: Fault,
  { lastsMs, load: size, name, warmUpMs }: Options
): Promise<FaultRound> => {
  const { random, world } = stage
  const before = world.client.commands.length
  const messages = new Map(world.service().messages)
  const logged = (message: string) => (world.service().messages.get(message) ?? 0) - (messages.get(message) ?? 0)

  const load = Load.start(world, { ...size, random, name })
  const errands = Errands.start(world, { random, name })
  await delay(warmUpMs)
  const readiness = Readiness.watch(world)
  const credentials = await Credentials.start(world, name)
  const beganAt = performance.now()
  const end = await fault.start(stage)
  await delay(lastsMs)
  const endedAt = performance.now()
  const inFlight = load.inFlight()
  await end()
  const isReady = await readiness.isReady(readyWithinMs)
  const readyMs = Math.round(performance.now() - endedAt)
  /** A busy machine takes longer to bring a fault about, and to end it. */
  const awayMs = performance.now() - beganAt
  await delay(afterMs)
  await Promise.all([load.stop(), errands.stop(), credentials.stop(), readiness.stop()])

  const repeated = await world.client.repeatUnanswered()
  const mine = world.client.commands.slice(before)
  const abandoned = mine.filter(({ answer }) => answer?.status === 503).length
  const violations: Array<string> = []
  if (!isReady) violations.push(`/readyz did not say 200 within ${readyWithinMs} ms of the end`)
  const during = readiness.answers().filter(({ at }) => at > beganAt && at < endedAt)
  const firstNo = during.findIndex(({ status }) => status === 503)
  if (fault.stopsWrites) {
    if (firstNo < 0) violations.push(`/readyz never said 503: ${during.map(({ status }) => status).join(" ")}`)
    else if (during.slice(firstNo).some(({ status }) => status !== 503))
      violations.push(`/readyz said ${during.map(({ status }) => status).join(" ")} while nothing could be stored`)
    if (lastsMs > namedWithinMs && logged(outageStarts) !== 1)
      violations.push(`the log names the cause ${logged(outageStarts)} times`)
  }
  if (logged(outageStarts) !== logged(outageEnds))
    violations.push(
      `the log tells ${logged(outageStarts)} times that it begins, and ${logged(outageEnds)} that it ends`
    )
  if (world.service().warnings.has("")) violations.push("a warning has no message")
  // Single lost answers have a line each.
  for (const message of fault.stopsWrites ? world.service().warnings : [])
    if (logged(message) > repetitionLimit(awayMs)) violations.push(`logged ${logged(message)} times: ${message}`)

  violations.push(
    ...(await world.client.repeatAnswered(mine.filter(() => random() < 0.5).slice(-sampleSize))),
    ...(await Invariants.check(world, peer, { recorded: load.recorded(), killedAt: null })),
    ...(await Memory.violations(world)),
    ...(await credentials.violations())
  )
  return { inFlight, repeated, abandoned, readyMs, violations }
}
