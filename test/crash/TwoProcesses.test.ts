import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { setTimeout as delay } from "node:timers/promises"
import * as Pair from "./support/Pair.ts"

/**
 * Two processes on one Postgres (src/runtime/README.md#two-processes), each over a network that is cut, with calls that
 * are recorded and streamed. The long form is part of `npm run crash`.
 */
describe("an owner and a standby, with live calls", () => {
  let made: Pair.Pair | null = null
  beforeAll(async () => {
    made = await Pair.make()
  }, 300_000)
  afterAll(async () => {
    await made?.close()
  }, 300_000)
  const pair = (): Pair.Pair => {
    if (made === null) throw new Error("there is no pair")
    return made
  }
  let calls: ReadonlyArray<string> = []

  /** The same owner, the same calls, and it takes new ones. */
  const nothingEnded = async () => {
    const { hangUp, members, standing, talk } = pair()
    const [owner] = members
    expect(await standing(calls)).toEqual(calls.map(() => "answered"))
    await streamsGoOn()
    const id = await talk(owner)
    expect((await hangUp(owner, id))?.status).toBe(200)
  }

  /** Each call is still streamed. */
  const streamsGoOn = async () => {
    const { streams } = pair().receiver
    for (const id of calls) {
      const before = streams.heard(id)
      expect(before).not.toBeNull()
      await Pair.until("more of a stream", async () => (streams.heard(id) ?? 0) > (before ?? 0))
    }
    expect(streams.violations).toEqual([])
  }

  /** The recordings of these calls in the store of this member. */
  const recordingsOf = async (member: Pair.Member, ended: ReadonlyArray<string>) => {
    await Pair.until(
      "the outcomes of recordings",
      async () => !(await pair().recordings(member, ended)).includes("none")
    )
    return pair().recordings(member, ended)
  }

  /** Whether a process has come up. */
  const isUp = (member: Pair.Member) =>
    Promise.race([member.service().ready.then(() => true), delay(10).then(() => false)])

  it("nothing ends when Postgres restarts, a lock's connection breaks, or a network is cut for a while", async () => {
    const { answers, complete, dropLock, epoch, members, restartPostgres, talk } = pair()
    const [owner, standby] = members
    calls = [await talk(owner), await talk(owner)]
    const before = await epoch()
    await complete()
    await delay(1_000)

    await dropLock()
    await delay(1_500)
    await nothingEnded()

    await restartPostgres(2_000)
    await Pair.until("the API answers again", () => answers(owner))
    await nothingEnded()

    for (const member of [standby, owner]) {
      member.toDatabase.cut()
      await delay(4_000)
      member.toDatabase.restore()
      await complete()
      await Pair.until("the API answers again", () => answers(owner))
      await delay(1_000)
      await nothingEnded()
    }

    owner.toClients.cut()
    await delay(500)
    owner.toClients.restore()
    await nothingEnded()

    expect(await epoch()).toBe(before)
    expect(await isUp(standby)).toBe(false)
  }, 300_000)

  it("a rolling restart hands over at once, there and back", async () => {
    const { complete, members, standing, talk } = pair()
    const [one, two] = members
    for (const [leaves, stays] of [
      [one, two],
      [two, one]
    ] as const) {
      expect(await leaves.service().kill("SIGTERM")).toBe("exit code 0")
      const stoppedAt = performance.now()
      await stays.service().ready
      // A second, and the time that the rest of a start takes on a busy machine; a dead owner is waited for longer.
      expect(performance.now() - stoppedAt).toBeLessThan(10_000)
      expect(await standing(calls)).toEqual(calls.map(() => "ended carrier_error"))
      for (const recording of await recordingsOf(leaves, calls)) expect(recording).toMatch(/^available [1-9][0-9]*$/)
      calls = [await talk(stays)]
      leaves.start()
      await complete()
      await delay(1_000)
    }
    expect(await standing(calls)).toEqual(["answered"])
  }, 300_000)

  it("an owner that is killed is replaced within the stated time, and its calls have their bill", async () => {
    const { database, members, standing, talk } = pair()
    const [owner, standby] = members
    await owner.service().kill("SIGKILL")
    const diedAt = performance.now()
    await standby.service().ready
    expect(performance.now() - diedAt).toBeLessThan(30_000)
    expect(await standing(calls)).toEqual(["ended carrier_error"])
    const rated = await database.query("SELECT FROM call WHERE rating_status <> 'rated'")
    expect(rated).toEqual([])
    // The spool of the dead process is on a disk that no process reads: the recording is reported as failed.
    expect(await recordingsOf(standby, calls)).toEqual(["failed 0 without a file"])
    await talk(standby)
    owner.start()
  }, 300_000)
})
