/**
 * `npm run soak`: twenty minutes of calls at an even pace, and the service's figures for them. Fifty simulated calls a
 * second are placed and talk for two seconds, with webhooks; five more a second hear a prompt of one second. A line for
 * each minute; at the end the verdict: memory is flat, and nothing was lost.
 *
 * `SOAK_MINUTES`, `SOAK_CALLS` and `SOAK_PROMPTS` (calls a second) make it another size.
 */
import { setTimeout as delay } from "node:timers/promises"
import * as Rounds from "../test/bench/Rounds.ts"
import * as Client from "../test/crash/support/peer/Client.ts"
import type { Event } from "../test/crash/support/peer/Receiver.ts"
import * as World from "../test/crash/support/World.ts"

const setting = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise)
const minutes = setting("SOAK_MINUTES", 20)
const callsPerSecond = setting("SOAK_CALLS", 50)
const promptsPerSecond = setting("SOAK_PROMPTS", 5)
const tenants = 5
const talkSecs = 2
/** A call whose end was not reported within this time is lost. */
const lostMs = 60_000
/** Memory may grow by so much from the first third of the run to the last, as caches fill. */
const growth = 1.1

interface Open {
  readonly placedAt: number
  /** The key for its prompt; null: it has none. */
  readonly promptKey: string | null
}

interface Minute {
  readonly placeMs: Array<number>
  readonly eventMs: Array<number>
  placed: number
  refused: number
  ended: number
  prompts: number
}

const newMinute = (): Minute => ({ placeMs: [], eventMs: [], placed: 0, refused: 0, ended: 0, prompts: 0 })

const sorted = (values: ReadonlyArray<number>) => Float64Array.from(values).sort()
const ms = (values: ReadonlyArray<number>) => {
  const all = sorted(values)
  return [0.5, 0.99, 1].map((p) => (all.length === 0 ? "-" : Rounds.percentile(all, p).toFixed(0))).join("/")
}

/** The value of a metric without labels; NaN where it is missing. */
const metric = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN)

const mebi = (bytes: number) => (bytes / 1_048_576).toFixed(0)

const world = await World.make({ tenants, lean: true })
const problems: Array<string> = []
try {
  const open = new Map<string, Open>()
  /** Events of calls that came before the answer with the call's id. */
  const early = { answered: new Set<string>(), ended: new Set<string>() }
  let minute = newMinute()
  let unexpected = 0

  world.receiver.listen((event: Event) => {
    minute.eventMs.push(Date.now() - Date.parse(event.occurred_at))
    const callId = String(event.data["call_id"])
    const call = open.get(callId)
    if (event.event_type === "call.answered") {
      if (call === undefined) early.answered.add(callId)
      else void play(callId, call)
    }
    if (event.event_type === "call.playback_ended" && event.data["status"] === "completed") minute.prompts++
    if (event.event_type !== "call.ended") return
    minute.ended++
    early.answered.delete(callId)
    if (!open.delete(callId)) early.ended.add(callId)
    if (event.data["end_reason"] !== "time_limit") unexpected++
  })

  const play = async (callId: string, { promptKey }: Open): Promise<void> => {
    if (promptKey === null) return
    const body = { url: `${world.receiver.baseUrl}/tone.wav` }
    await Client.request(`${world.baseUrl}/v1/calls/${callId}/actions/play`, { bearer: promptKey, body })
  }

  let nth = 0
  const place = async (prompted: boolean): Promise<void> => {
    const tenant = world.tenants[nth++ % tenants]
    if (tenant === undefined) return
    const placedAt = performance.now()
    const answer = await Client.request(`${world.baseUrl}/v1/calls`, {
      bearer: tenant.apiKey,
      body: { from: tenant.number, to: "+12025550100", time_limit_secs: talkSecs }
    })
    minute.placeMs.push(performance.now() - placedAt)
    if (answer?.status !== 201) {
      minute.refused++
      if (problems.length < 10) problems.push(`a placement got ${answer?.status}: ${answer?.body}`)
      return
    }
    minute.placed++
    const { id } = JSON.parse(answer.body) as { readonly id: string }
    if (early.ended.delete(id)) return
    const call = { placedAt, promptKey: prompted ? tenant.apiKey : null }
    open.set(id, call)
    if (early.answered.delete(id)) void play(id, call)
  }

  /** Calls at an even pace until `untilMs`; a late wake-up is made good. */
  const pace = async (perSecond: number, prompted: boolean, untilMs: number): Promise<void> => {
    const startedAt = performance.now()
    for (let sent = 0; performance.now() < untilMs; await delay(5))
      for (; sent < ((performance.now() - startedAt) * perSecond) / 1000; sent++) void place(prompted)
  }

  const rss: Array<number> = []
  const report = async (name: string): Promise<void> => {
    const told = minute
    minute = newMinute()
    const text = await fetch(`http://127.0.0.1:${world.ports.operator}/metrics`).then((response) => response.text())
    const bytes = metric(text, "process_resident_memory_bytes")
    rss.push(bytes)
    console.log(
      `${name}: placed ${told.placed}, refused ${told.refused}, ended ${told.ended}, prompts ${told.prompts}; ` +
        `POST ${ms(told.placeMs)} ms, event to request ${ms(told.eventMs)} ms (p50/p99/max); ` +
        `${mebi(bytes)} MiB, heap ${mebi(metric(text, "nodejs_heap_size_used_bytes"))} MiB, ` +
        `loop p99 ${(metric(text, "nodejs_eventloop_lag_p99_seconds") * 1000).toFixed(0)} ms, ` +
        `live ${metric(text, "calls_live")}, due ${metric(text, "webhook_deliveries_due")}`
    )
  }

  const untilMs = performance.now() + minutes * 60_000
  const load = Promise.all([pace(callsPerSecond, false, untilMs), pace(promptsPerSecond, true, untilMs)])
  for (let nthMinute = 1; nthMinute <= minutes; nthMinute++) {
    await delay(60_000)
    await report(`minute ${nthMinute}`)
    const lost = [...open].filter(([, { placedAt }]) => performance.now() - placedAt > lostMs)
    for (const [callId] of lost) open.delete(callId)
    if (lost.length > 0) problems.push(`${lost.length} calls have not told their end, among them ${lost[0]?.[0]}`)
  }
  await load
  for (let waited = 0; open.size > 0 && waited < lostMs; waited += 100) await delay(100)
  await report("after the last call")
  if (open.size > 0) problems.push(`${open.size} calls have not told their end`)
  if (unexpected > 0) problems.push(`${unexpected} calls ended otherwise than by their time limit`)
  problems.push(...world.receiver.violations.slice(0, 10), ...world.faults().slice(0, 10))
  const third = Math.max(1, Math.floor(rss.length / 3))
  const [first, last] = [Rounds.median(rss.slice(0, third)), Rounds.median(rss.slice(-third))]
  console.log(`memory: ${mebi(first)} MiB in the first third, ${mebi(last)} MiB in the last`)
  if (last > first * growth) problems.push(`memory grew from ${mebi(first)} to ${mebi(last)} MiB`)
} finally {
  await world.close()
}
for (const problem of problems) console.log(`FAIL ${problem}`)
console.log(problems.length === 0 ? "1 passed, 0 failed" : "0 passed, 1 failed")
process.exit(problems.length === 0 ? 0 : 1)
