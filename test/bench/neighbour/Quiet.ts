import { setTimeout as delay } from "node:timers/promises"
import * as Client from "../../crash/support/peer/Client.ts"
import type { Event } from "../../crash/support/peer/Receiver.ts"
import type * as World from "../../crash/support/World.ts"

/** The measurements of a tenant that places calls at an even pace, gets their events and plays a prompt in each. */
export interface Seen {
  /** From the request to its answer, `POST /v1/calls`. */
  readonly placeMs: ReadonlyArray<number>
  /** From an event to the receiver's whole request. */
  readonly eventMs: ReadonlyArray<number>
  /** From the request to play to the first sound: the time that the playback took beyond its length. */
  readonly promptMs: ReadonlyArray<number>
  /** The number of placed calls; `whole` counts those whose events arrived to the end, in order. */
  readonly placed: number
  readonly whole: number
  /** The problems, a line each. */
  readonly problems: ReadonlyArray<string>
}

const promptLengthMs = 1000
/** A call answers after a second, plays for one, and is hung up; one whose events are lost ends after this time. */
const talkSecs = 30
const patienceMs = 40_000

/** Places `count` calls, `perSecond` of them a second, and follows each to its end. */
export const watch = async (
  world: World.World,
  tenant: World.Tenant,
  { count, perSecond }: { readonly count: number; readonly perSecond: number }
): Promise<Seen> => {
  const [placeMs, eventMs, promptMs]: [Array<number>, Array<number>, Array<number>] = [[], [], []]
  const problems: Array<string> = []
  const expected = ["call.started", "call.ringing", "call.answered", "call.playback_ended", "call.ended"]
  /** The events of each call, in the order of arrival; those of the abuser are ignored. */
  const heard = new Map<string, Array<Event>>()
  const askedAt = new Map<string, number>()
  const of = (callId: string) => {
    const events = heard.get(callId) ?? []
    heard.set(callId, events)
    return events
  }

  const deaf = world.receiver.listen((event) => {
    const callId = String(event.data["call_id"])
    of(callId).push(event)
    eventMs.push(Date.now() - Date.parse(event.occurred_at))
    if (event.event_type === "call.answered") void play(callId)
    const asked = askedAt.get(callId)
    if (event.event_type === "call.playback_ended" && asked !== undefined)
      promptMs.push(Math.max(0, Date.parse(event.occurred_at) - asked - promptLengthMs))
    if (event.event_type === "call.playback_ended") void act(callId, "hangup", {})
  })

  const play = async (callId: string): Promise<void> => {
    askedAt.set(callId, Date.now())
    // Each call has a different prompt, which is fetched and decoded.
    await act(callId, "play", { url: `${world.receiver.baseUrl}/tone.wav?${callId}` })
  }

  const act = async (callId: string, action: string, body: object): Promise<void> => {
    const url = `${world.baseUrl}/v1/calls/${callId}/actions/${action}`
    const answer = await Client.request(url, { bearer: tenant.apiKey, body })
    if (answer === null || answer.status >= 300) problems.push(`${action}: ${answer?.status} ${answer?.body}`)
  }

  const placed: Array<string> = []
  const place = async (): Promise<void> => {
    const at = performance.now()
    const answer = await Client.request(`${world.baseUrl}/v1/calls`, {
      bearer: tenant.apiKey,
      body: { from: tenant.number, to: "+12025550100", time_limit_secs: talkSecs }
    })
    placeMs.push(performance.now() - at)
    if (answer?.status !== 201) return void problems.push(`place: ${answer?.status} ${answer?.body}`)
    const { id } = JSON.parse(answer.body) as { readonly id: string }
    placed.push(id)
  }

  const startedAt = performance.now()
  const placing: Array<Promise<void>> = []
  while (placing.length < count) {
    for (; placing.length < Math.min(count, ((performance.now() - startedAt) * perSecond) / 1000);)
      placing.push(place())
    await delay(5)
  }
  await Promise.all(placing)
  const hasEnded = (id: string) => of(id).some(({ event_type }) => event_type === "call.ended")
  for (let waited = 0; waited < patienceMs && !placed.every(hasEnded); waited += 50) await delay(50)
  deaf()

  const isWhole = (id: string): boolean => {
    const events = of(id)
    const names = events.map(({ event_type }) => event_type)
    const isOrdered = events.every(
      ({ sequence }, index) => index === 0 || sequence > (events[index - 1]?.sequence ?? 0)
    )
    const isHeard = events.some(({ data }) => data["status"] === "completed" && data["playback_id"] !== undefined)
    const isAll = isHeard && expected.every((name) => names.includes(name))
    if (!isAll || !isOrdered) problems.push(`${id}: ${events.map((e) => `${e.sequence} ${e.event_type}`).join(", ")}`)
    return isAll && isOrdered
  }
  return { placeMs, eventMs, promptMs, placed: placed.length, whole: placed.filter(isWhole).length, problems }
}
