import { setTimeout as delay } from "node:timers/promises"
import * as Invariants from "./Invariants.ts"
import type { Member, Pair } from "./Pair.ts"
import { until } from "./Pair.ts"
import * as Patience from "./Patience.ts"

/** One event that two processes lived through, and the violations afterwards. */
export interface PairRound {
  readonly what: string
  readonly violations: ReadonlyArray<string>
}

/**
 * Below the silence after which an owner is replaced, less the time that it takes to be back
 * (src/runtime/README.md#two-processes).
 */
const shortMs = 8_000
const takeoverMs = 45_000

/** Two processes to which one event after the other happens. The first member owns the database at the beginning. */
export const make = (pair: Pair, random: () => number) => {
  let [owner, standby]: ReadonlyArray<Member> = pair.members
  let calls: ReadonlyArray<string> = []
  const the = (member: Member | undefined): Member => {
    if (member === undefined) throw new Error("there is no pair")
    return member
  }

  const cut = async (network: Member["toDatabase"], ms: number) => {
    network.cut()
    await delay(ms)
    network.restore()
  }
  const handOver = async (signal: "SIGTERM" | "SIGKILL") => {
    const leaves = the(owner)
    await leaves.service().kill(signal)
    owner = standby
    standby = leaves
    const isReady = the(owner)
      .service()
      .ready.then(() => true)
    if (!(await Patience.race(isReady, takeoverMs, false))) throw new Error(`nobody took over within ${takeoverMs} ms`)
    leaves.start()
  }

  /** Each event, with whether the calls of the owner live on. */
  const events: ReadonlyArray<readonly [what: string, lives: boolean, happen: () => Promise<void>]> = [
    ["the connection of the lock breaks", true, pair.dropLock],
    ["Postgres restarts", true, () => pair.restartPostgres(random() * 10_000)],
    ["the owner is cut off", true, () => cut(the(owner).toDatabase, random() * shortMs)],
    ["the standby is cut off", true, () => cut(the(standby).toDatabase, random() * 3 * shortMs)],
    ["the clients are cut off", true, () => cut(the(owner).toClients, random() * shortMs)],
    [
      "the standby dies",
      true,
      async () => {
        await the(standby).service().kill("SIGKILL")
        the(standby).start()
      }
    ],
    ["the owner stops", false, () => handOver("SIGTERM")],
    ["the owner dies", false, () => handOver("SIGKILL")]
  ]

  return {
    run: async (): Promise<PairRound> => {
      const [what, lives, happen] = events[Math.floor(random() * events.length)] ?? ["nothing", true, async () => {}]
      const violations: Array<string> = []
      try {
        await pair.complete()
        await delay(1_000 + random() * 3_000)
        calls = [...calls.slice(-3), await pair.talk(the(owner))]
        const epoch = await pair.epoch()
        await happen()
        await until("an API that answers", () => pair.answers(the(owner)))
        await delay(random() * 2_000)
        const standing = await pair.standing(calls)
        const wanted = lives ? "answered" : "ended carrier_error"
        for (const [index, is] of standing.entries())
          if (is !== wanted) violations.push(`${calls[index]} is "${is}", not "${wanted}"`)
        if (lives && (await pair.epoch()) !== epoch) violations.push("another process took the journal over")
        if (!lives) calls = []
        const id = await pair.talk(the(owner))
        const answer = await pair.hangUp(the(owner), id)
        if (answer?.status !== 200) violations.push(`a hang-up was answered by ${answer?.status}`)
        violations.push(...(await Invariants.ledger(pair.database)))
      } catch (cause) {
        violations.push(cause instanceof Error ? cause.message : String(cause))
      }
      return { what, violations }
    }
  }
}
