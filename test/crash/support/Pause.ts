import { setTimeout as delay } from "node:timers/promises"
import * as NpmStart from "../../support/service/NpmStart.ts"
import * as SipPeer from "./peer/SipPeer.ts"
import * as Invariants from "./Invariants.ts"
import type { World } from "./World.ts"

/** The processes that stand still: the service alone, or its database too, as with the snapshot of a machine. */
export type Paused = "process" | "all"

interface Options {
  readonly paused: Paused
  readonly pausedMs: number
  /** Calls of each kind. */
  readonly calls: number
  readonly name: string
  /** Its wall clock is set to this much more or less than the true time while it stands still, in milliseconds. */
  readonly setWallClockMs?: number
}

interface CallRow {
  readonly id: string
  readonly status: string
  readonly reason: string | null
}

/** The time in which calls are answered and heard, on a machine that is busy with other tests. */
const withinMs = 30_000
const talking = new Set(["answered", "bridged"])

const signal = (pids: ReadonlyArray<number>, name: "SIGSTOP" | "SIGCONT"): void => {
  for (const pid of pids) process.kill(pid, name)
}

/**
 * Stops the service with SIGSTOP while calls talk, continues it with SIGCONT, and gives a line for each thing that the
 * pause ended or lost.
 */
export const run = async (world: World, peer: SipPeer.SipPeer, options: Options): Promise<ReadonlyArray<string>> => {
  const { calls, name, paused, pausedMs, setWallClockMs } = options
  const [tenant] = world.tenants
  if (tenant === undefined) throw new Error("there is no tenant")
  const { apiKey } = tenant
  const database = world.database()
  let sent = 0
  /** Sends a request until it has its answer, because a busy machine may give it none in time. */
  const ask = async (path: string, body: object, mark: (key: string) => string) => {
    const key = `pause-${name}-${++sent}`
    await world.client.command({ apiKey, key, path, body, mark: mark(key) })
    await world.client.repeatUnanswered()
    return world.client.commands.find((command) => command.key === key)?.answer ?? null
  }
  const command = async (path: string, body: object, mark: (key: string) => string) => {
    const answer = await ask(path, body, mark)
    if (answer === null || answer.status >= 300) throw new Error(`${path}: ${answer?.status} ${answer?.body}`)
    return JSON.parse(answer.body) as { readonly id: string }
  }
  /** Two of the calls meet in a room. */
  const meet = async (host: string, guest: string): Promise<string> => {
    const room = `pause-${name}-${sent + 1}`
    const body = { name: room, host_call_id: host }
    const { id } = await command("/v1/conferences/", body, () => `conference ${room}`)
    await command(`/v1/conferences/${id}/actions/join/`, { call_id: guest }, () => `join ${id} ${guest}`)
    return id
  }
  const place = async (callee: object): Promise<string> => {
    const key = `pause-${name}-${sent + 1}`
    const body = { from: tenant.number, customer_reference: key, ...callee }
    return (await command("/v1/calls", body, (key) => `call ${key}`)).id
  }
  const act = (callId: string, verb: string, body: object) =>
    command(`/v1/calls/${callId}/actions/${verb}`, body, () => `${verb} ${callId}`)
  const rows = (ids: ReadonlyArray<string>) =>
    database.query<CallRow>(`SELECT id, status, end_reason AS reason FROM call WHERE id = ANY($1)`, [ids])

  const ids: Array<string> = []
  for (let nth = 0; nth < calls; nth++) {
    ids.push(await place({ to: SipPeer.steadyNumber, route_id: tenant.sipRouteId }))
    ids.push(await place({ to: "+12025550100", record: "on_answer" }))
  }
  const notAnswered = async () =>
    (await rows(ids)).filter(({ status }) => status !== "answered").map(({ id, status }) => `${id} is ${status}`)
  const late = await Invariants.eventually(withinMs, notAnswered)
  if (late.length > 0) return late
  for (const id of ids)
    await act(id, "streaming_start", { stream_url: `${world.receiver.socketUrl}/stream/echoes/${name}-${id}` })
  const sound = () => new Map(ids.map((id) => [id, world.receiver.streams.heard(`${name}-${id}`)]))
  const noSound = (before: ReadonlyMap<string, number | null>) => () =>
    [...sound()].flatMap(([id, now]) =>
      now !== null && now > (before.get(id) ?? 0) + 10 ? [] : [`the stream of ${id} has no sound`]
    )
  const silent = await Invariants.eventually(withinMs, noSound(new Map()))
  if (silent.length > 0) return silent

  const [host = "", guest = ""] = ids
  const room = await meet(host, guest)

  const family = await NpmStart.family(world.service().pid)
  const pids = paused === "all" ? family.map(({ pid }) => pid) : [world.service().pid]
  signal(pids, "SIGSTOP")
  if (setWallClockMs !== undefined) {
    world.receiver.knowWallClock(setWallClockMs)
    world.service().setWallClock(setWallClockMs)
  }
  await delay(pausedMs)
  const before = sound()
  signal(pids.toReversed(), "SIGCONT")
  const violations = [...(await Invariants.eventually(withinMs, noSound(before)))]
  const probe = await place({ to: "+12025550100" })
  // A watch that counted the pause would end calls within this time.
  await delay(7_000)
  for (const { id, reason, status } of await rows([...ids, probe]))
    if (!talking.has(status)) violations.push(`${id} is ${status}: ${reason}`)
  const rooms = await database.query<CallRow>("SELECT id, status, NULL AS reason FROM conference WHERE id = $1", [room])
  for (const { id, status } of rooms) if (status !== "in_progress") violations.push(`the room ${id} is ${status}`)
  // The end of the room ends its members, so the hang-up of one may come too late.
  for (const id of [...ids, probe]) await ask(`/v1/calls/${id}/actions/hangup`, {}, () => `hangup ${id}`)
  violations.push(...(await Invariants.check(world, peer, { recorded: [], killedAt: null })))
  return violations
}
