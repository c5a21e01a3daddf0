import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { setTimeout as delay } from "node:timers/promises"
import * as Netem from "../support/network/Netem.ts"
import * as Client from "./support/peer/Client.ts"
import * as Invariants from "./support/Invariants.ts"
import * as SipPeer from "./support/peer/SipPeer.ts"
import * as World from "./support/World.ts"

/**
 * The wall clock of a running service is set by hours, forward and back, in the middle of its calls. Passing time is
 * measured by the monotonic clock: timers fire when they should, and bills cover the time that was talked.
 */
const hourMs = 3_600_000
/** Forward by more than a call may last, and back by less; `npm run crash` also sets it by other spans. */
const steps = [5, -2]

const echo = "+12025550100"
const neverAnswers = "+12025550102"

interface Call {
  readonly id: string
  readonly status: string
  readonly end_reason: string | null
  readonly duration_seconds: number
  readonly cost_cents: number | null
  readonly answered_at: string | null
  readonly ended_at: string | null
}

describe("a service whose wall clock is set", () => {
  let world: World.World
  let peer: SipPeer.OwnSipPeer
  beforeAll(async () => {
    peer = await SipPeer.start(Netem.random(1))
    world = await World.make({ tenants: 1, sipPeerPort: peer.port })
  })
  afterAll(async () => {
    await world.close()
    await peer.close()
  })

  const tenant = (): World.Tenant => {
    const [first] = world.tenants
    if (first === undefined) throw new Error("there is no tenant")
    return first
  }

  const ask = async (path: string, body: object | null): Promise<Call> => {
    const answer = await Client.request(`${world.baseUrl}${path}`, {
      method: body === null ? "GET" : "POST",
      bearer: tenant().apiKey,
      ...(body === null ? {} : { body })
    })
    if (answer === null || answer.status >= 300) throw new Error(`${path}: ${answer?.status} ${answer?.body}`)
    return JSON.parse(answer.body) as Call
  }

  const place = (fields: object) => ask("/v1/calls", { from: tenant().number, ...fields })

  const until = async (id: string, is: (call: Call) => boolean): Promise<Call> => {
    let call = await ask(`/v1/calls/${id}`, null)
    for (let tries = 0; tries < 150 && !is(call); tries++, await delay(100)) call = await ask(`/v1/calls/${id}`, null)
    return call
  }
  const answered = (call: Call) => call.answered_at !== null
  const ended = (call: Call) => call.ended_at !== null

  const onSip = () => ({ to: SipPeer.steadyNumber, route_id: tenant().sipRouteId })

  it.each(steps)("ends and bills its calls by the time that passed: %i hours", async (hours) => {
    const limited = await place({ to: echo, time_limit_secs: 4 })
    const talking = await place({ to: echo })
    const overSip = await place(onSip())
    const hungUpByPeer = await place(onSip())
    await Promise.all([limited, talking, overSip, hungUpByPeer].map(({ id }) => until(id, answered)))
    const rings = await place({ to: neverAnswers, timeout_secs: 4 })
    const waitsForDigits = await ask(`/v1/calls/${talking.id}/actions/gather`, {
      timeout_millis: 4_000,
      initial_timeout_millis: 3_000
    })
    world.service().setWallClock(hours * hourMs)
    // Nothing ends by the step itself.
    await delay(500)
    for (const { id } of [limited, talking, overSip, hungUpByPeer])
      expect(await ask(`/v1/calls/${id}`, null)).toMatchObject({ status: "answered" })

    expect(await until(limited.id, ended)).toMatchObject({
      status: "ended",
      end_reason: "time_limit",
      duration_seconds: 4,
      cost_cents: 1
    })
    expect(await until(rings.id, ended)).toMatchObject({ status: "failed", end_reason: "timeout" })
    expect(waitsForDigits.status).toBe("answered")
    await gatherEnds(talking.id)

    const [, dialog] = [...peer.dialogs.values()].slice(-2)
    peer.hangUp(dialog?.callId ?? "")
    await ask(`/v1/calls/${talking.id}/actions/hangup`, {})
    await Promise.any([until(overSip.id, ended), until(hungUpByPeer.id, ended)])
    for (const { id } of [overSip, hungUpByPeer])
      if (!ended(await ask(`/v1/calls/${id}`, null))) await ask(`/v1/calls/${id}/actions/hangup`, {})
    for (const { id } of [talking, overSip, hungUpByPeer]) {
      const call = await until(id, ended)
      expect(call).toMatchObject({ status: "ended", end_reason: "normal_clearing", cost_cents: 1 })
      expect(call.duration_seconds).toBeLessThan(55)
      expect(Date.parse(call.ended_at ?? "")).toBeGreaterThanOrEqual(Date.parse(call.answered_at ?? ""))
    }
    world.service().setWallClock(0)
  })

  it.each([2, -5])("bills what it left at its death by the time that passed: %i hours", async (hours) => {
    const talking = await Promise.all([place({ to: echo }), place(onSip())])
    await Promise.all(talking.map(({ id }) => until(id, answered)))
    world.service().setWallClock(hours * hourMs)
    // Past the next sign of life.
    await delay(6_000)
    await world.service().kill("SIGKILL")
    world.spawn()
    await world.ready()
    for (const { id } of talking) {
      const call = await until(id, ended)
      expect(call).toMatchObject({ status: "ended", end_reason: "carrier_error", cost_cents: 1 })
      expect(call.duration_seconds).toBeLessThan(55)
    }
    expect(await Invariants.durations(world)).toEqual([])
    expect(await Invariants.replays(world.database())).toEqual([])
    expect(await Invariants.ledger(world.database())).toEqual([])
  })

  interface Recorded {
    readonly id: string
    readonly status: string
    readonly duration_seconds: number
    readonly download_url: string | null
  }
  const recordingOf = async (callId: string): Promise<Recorded> => {
    for (let tries = 0; tries < 300; tries++, await delay(100)) {
      const { results } = (await ask(`/v1/recordings?call_id=${callId}`, null)) as unknown as {
        readonly results: ReadonlyArray<Recorded>
      }
      if (results[0] !== undefined) return results[0]
    }
    throw new Error("the recording has no outcome")
  }
  const download = async (url: string | null): Promise<number> => (await fetch(url ?? "")).status

  it.each([1, -1])("records through the step, and links lead as long as the wall says: %i hours", async (hours) => {
    const calls = await Promise.all([place({ to: echo }), place(onSip())])
    for (const { id } of calls) {
      await until(id, answered)
      await ask(`/v1/calls/${id}/actions/start_recording`, { format: "wav" })
    }
    await delay(1_500)
    world.service().setWallClock(hours * hourMs)
    await delay(1_500)
    for (const { id } of calls) await ask(`/v1/calls/${id}/actions/stop_recording`, {})
    for (const { id } of calls) {
      const { download_url, duration_seconds, status } = await recordingOf(id)
      expect(status).toBe("available")
      expect(duration_seconds).toBeGreaterThanOrEqual(3)
      expect(duration_seconds).toBeLessThan(30)
      expect(await download(download_url)).toBe(200)
      world.service().setWallClock(0)
      await delay(100)
      expect(await download(download_url)).toBe(hours > 0 ? 200 : 404)
      expect(await download((await recordingOf(id)).download_url)).toBe(200)
      world.service().setWallClock(hours * hourMs)
      await delay(100)
    }
    world.service().setWallClock(0)
    for (const { id } of calls) await ask(`/v1/calls/${id}/actions/hangup`, {})
  })

  const gatherEnds = async (callId: string): Promise<void> => {
    for (let tries = 0; tries < 300; tries++, await delay(100)) {
      const rows = await world
        .database()
        .query("SELECT 1 FROM event WHERE entity_id = $1 AND type = 'call.gather_complete'", [callId])
      if (rows.length === 1) return
    }
    throw new Error("the gather did not time out")
  }
})
