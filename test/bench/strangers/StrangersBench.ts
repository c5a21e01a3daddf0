import { setTimeout as delay } from "node:timers/promises"
import { Effect } from "effect"
import * as InteropService from "../../interop/peer/Service.ts"
import { authority } from "../../support/network/HttpsReceiver.ts"
import * as Departures from "../media/Departures.ts"
import * as Peers from "../media/Peers.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as Attack from "./Attack.ts"
import * as Trunk from "./Trunk.ts"

const calls = 50
const placedPerSecond = 10
const talkMs = 1_000
/** How long a call may stay unanswered before it counts as failed. */
const answerMs = 10_000
const readsPerSecond = 50
const secondsPerRound = 6
const attacksPerSecond = 5_000
const manyAddresses = 4_000
const number = "+12025550150"

/** The attacks, under their names in the report; `alone` comes first. */
const attacks = {
  alone: null,
  "OPTIONS from one address": { method: "OPTIONS", addresses: 1 },
  "INVITEs from one address": { method: "INVITE", addresses: 1 },
  "OPTIONS from thousands of addresses": { method: "OPTIONS", addresses: manyAddresses },
  "INVITEs from thousands of addresses": { method: "INVITE", addresses: manyAddresses }
} as const

interface Round {
  readonly reads: Float64Array
  readonly placements: Float64Array
  readonly failed: ReadonlyArray<string>
  readonly placed: number
  readonly frames: ReadonlyArray<Departures.Figures>
  readonly attacksPerSecond: number
  readonly cpuShare: number
}

/** The whole service, talking and placing calls, alone and while strangers flood its SIP port. */
export const run = Effect.gen(function* () {
  const peers = yield* Peers.start
  const trunk = yield* Trunk.start(peers.port)
  const attack = yield* Attack.start
  const service = yield* Effect.acquireRelease(
    Effect.promise(() => InteropService.start(authority.cert)),
    (service) => Effect.promise(service.stop)
  )
  const tenant = yield* Effect.promise(() => InteropService.makeTenant(service, trunk.port, number))
  const place = () => tenant.request("POST", "/v1/calls", { from: number, to: "+12025559000" })
  for (let call = 0; call < calls; call++) yield* Effect.promise(place)
  yield* Effect.sleep("2 seconds")
  yield* peers.stream(trunk.ports().slice(0, calls), { payloadType: 0 })
  yield* Effect.sleep("2 seconds")

  const cpuSeconds = Effect.promise(async () => {
    const text = await (await fetch(`${service.operatorUrl}/metrics`)).text()
    return Number(/^process_cpu_seconds_total ([0-9.e+-]+)/m.exec(text)?.[1])
  })

  const round = Effect.fnUntraced(function* (strangers: (typeof attacks)[keyof typeof attacks]) {
    if (strangers !== null) yield* attack.start({ ...strangers, perSecond: attacksPerSecond, port: service.sipPort })
    yield* Effect.sleep("1 second")
    yield* peers.take
    const cpu = yield* cpuSeconds
    const load = yield* Effect.promise(() => loaded(tenant, place))
    const used = (yield* cpuSeconds) - cpu
    const departures = yield* peers.take
    const sent = strangers === null ? 0 : yield* attack.stop
    return {
      ...load,
      frames: Departures.figures(departures),
      attacksPerSecond: sent / (secondsPerRound + 1),
      cpuShare: used / secondsPerRound
    } satisfies Round
  })

  const rounds: Array<readonly [name: string, round: Round]> = []
  for (const [name, strangers] of Object.entries(attacks)) rounds.push([name, yield* round(strangers)])
  yield* peers.stop
  return rounds.flatMap(([name, each], index) => figures(name, each, index === 0 ? null : (rounds[0]?.[1] ?? null)))
}).pipe(Effect.orDie)

/** Places calls, which talk and are hung up; the list is read meanwhile. */
const loaded = async (tenant: InteropService.Tenant, place: () => Promise<InteropService.Json>) => {
  const reads: Array<number> = []
  const placements: Array<number> = []
  const failed: Array<string> = []
  const timed = async <A>(into: Array<number>, ask: () => Promise<A>): Promise<A> => {
    const from = performance.now()
    const answer = await ask()
    into.push(performance.now() - from)
    return answer
  }
  const call = async (): Promise<void> => {
    try {
      const { id } = await timed(placements, place)
      await delay(talkMs)
      const callId = String(id)
      let { status } = await tenant.call(callId)
      for (const until = performance.now() + answerMs; status === "initiated" && performance.now() < until;) {
        await delay(100)
        ;({ status } = await tenant.call(callId))
      }
      if (status !== "answered") return void failed.push(`${callId} is ${String(status)}`)
      await tenant.act(String(id), "hangup")
    } catch (cause) {
      failed.push(String(cause))
    }
  }
  const pending: Array<Promise<unknown>> = []
  const beganAt = performance.now()
  for (let read = 0; read < secondsPerRound * readsPerSecond; read++) {
    await delay(Math.max(0, beganAt + (read * 1_000) / readsPerSecond - performance.now()))
    pending.push(
      timed(reads, () => tenant.request("GET", "/v1/calls?page_size=20")).catch((e) => failed.push(String(e)))
    )
    if (read % (readsPerSecond / placedPerSecond) === 0) pending.push(call())
  }
  await Promise.all(pending)
  return {
    reads: Float64Array.from(reads).sort(),
    placements: Float64Array.from(placements).sort(),
    failed,
    placed: secondsPerRound * placedPerSecond
  }
}

const figures = (name: string, round: Round, alone: Round | null): ReadonlyArray<Report.Figure> => {
  const p99 = (of: Float64Array) => Rounds.percentile(of, 0.99)
  const latency = (what: string, of: (round: Round) => Float64Array): Report.Figure => {
    const value = `${Rounds.percentile(of(round), 0.5).toFixed(1)} / ${p99(of(round)).toFixed(1)}`
    if (alone === null) return Report.figure(`  ${what}, ms p50 / p99`, value)
    const limit = Math.max(50, 3 * p99(of(alone)))
    return Report.against(`  ${what}, ms p50 / p99`, value, `p99 ≤ ${limit.toFixed(0)}`, p99(of(round)) <= limit)
  }
  const sum = (of: (call: Departures.Figures) => number) => round.frames.reduce((all, call) => all + of(call), 0)
  const bad = sum((call) => call.late + call.missing)
  const packets = sum((call) => call.packets + call.missing)
  return [
    Report.figure(
      name,
      alone === null ? "" : `${Report.number(round.attacksPerSecond)}/s, ${manyAddresses} addresses at most`
    ),
    Report.against("  calls failed", `${round.failed.length} of ${round.placed}`, "0", round.failed.length === 0),
    ...round.failed.slice(0, 3).map((why) => Report.figure(`    ${why.slice(0, 60)}`, "")),
    Report.against(
      "  frames late or missing",
      `${bad} of ${Report.number(packets)}`,
      "< 0.1 %",
      packets > 0 && bad < packets / 1_000
    ),
    latency("GET /v1/calls", ({ reads }) => reads),
    latency("POST /v1/calls", ({ placements }) => placements),
    Report.figure("  CPU of the service, cores", round.cpuShare.toFixed(2))
  ]
}
