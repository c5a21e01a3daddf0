import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { setTimeout as delay } from "node:timers/promises"
import * as Bucket from "./support/peer/Bucket.ts"
import * as Client from "./support/peer/Client.ts"
import * as World from "./support/World.ts"

/** Recordings in a bucket whose clock is right while ours is set wrong, or that is away when the process dies. */
const echo = "+12025550100"

describe("a service whose recordings go to a bucket", () => {
  let world: World.World
  let bucket: Awaited<ReturnType<typeof Bucket.start>>
  beforeAll(async () => {
    bucket = await Bucket.start()
    world = await World.make({ tenants: 1, settings: bucket.settings })
  })
  afterAll(async () => {
    await world.close()
    bucket.close()
  })

  const ask = async (path: string, body: object | null) => {
    const [tenant] = world.tenants
    const answer = await Client.request(`${world.baseUrl}${path}`, {
      method: body === null ? "GET" : "POST",
      bearer: tenant?.apiKey ?? "",
      ...(body === null ? {} : { body })
    })
    if (answer === null || answer.status >= 300) throw new Error(`${path}: ${answer?.status} ${answer?.body}`)
    return JSON.parse(answer.body)
  }
  const until = async (is: () => Promise<boolean>, what: string): Promise<void> => {
    for (let tries = 0; tries < 300; tries++, await delay(100)) if (await is()) return
    throw new Error(`not in 30 s: ${what}`)
  }
  /** A call that is recorded for a second and hung up. */
  const recorded = async (): Promise<string> => {
    const { id } = await ask("/v1/calls", { from: world.tenants[0]?.number, to: echo })
    await until(async () => (await ask(`/v1/calls/${id}`, null)).answered_at !== null, "the answer")
    await ask(`/v1/calls/${id}/actions/start_recording`, { format: "wav" })
    await delay(1_000)
    await ask(`/v1/calls/${id}/actions/hangup`, {})
    return id
  }
  const statusOf = async (callId: string): Promise<string | undefined> =>
    (await ask(`/v1/recordings?call_id=${callId}`, null)).results[0]?.status
  const isStored = (callId: string) =>
    until(async () => (await statusOf(callId)) === "available", `the recording of ${callId}`)

  it.each([20, -60, 0])("stores them although its clock is wrong by %i minutes", async (minutes) => {
    world.service().setWallClock(minutes * 60_000)
    const before = bucket.objects.size
    await isStored(await recorded())
    expect(bucket.objects.size).toBe(before + 1)
    expect(bucket.state.refused).toBeGreaterThan(0)
    world.service().setWallClock(0)
  })

  it("keeps them over a restart while it is away, and stores them when it is back", async () => {
    bucket.state.isAway = true
    const callId = await recorded()
    await until(async () => bucket.state.away > 0, "a refusal")
    await world.service().kill("SIGKILL")
    world.spawn()
    await world.ready()
    const { away } = bucket.state
    await until(async () => bucket.state.away > away, "another try")
    expect(await statusOf(callId)).toBe(undefined)
    bucket.state.isAway = false
    await isStored(callId)
  })
})
