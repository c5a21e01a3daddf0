import { setTimeout as delay } from "node:timers/promises"
import type { Event } from "./Receiver.ts"
import type { Tenant, World } from "./World.ts"

/** Calls that are placed, talked on and hung up at random, as many at once as asked for, until they are stopped. */
export interface Load {
  /** Calls that were accepted and have not ended, as far as the webhooks tell. */
  readonly inFlight: () => number
  /** No new requests; completes when those under way have their answers, or have none. */
  readonly stop: () => Promise<void>
}

export interface Options {
  readonly calls: number
  /** How many of them go to the SIP peer. */
  readonly sipCalls: number
  readonly random: () => number
  /** Begins the keys of its requests: unique in one world. */
  readonly name: string
  /** Longest time that one talks, in seconds. */
  readonly talkSecs: number
  /** Over so long the callers come in, in milliseconds. */
  readonly rampMs: number
}

/** Echo, busy, no answer, rejects, voicemail, digits, hangs up: those that talk come most often. */
const phones = ["0100", "0100", "0101", "0102", "0103", "0104", "0105", "0105", "0106"]

type Verb = "play" | "send_dtmf" | "gather" | "hangup"
const verbs: ReadonlyArray<Verb> = ["play", "send_dtmf", "gather"]
/** One gather at a time. */
const others: ReadonlyArray<Verb> = ["play", "send_dtmf"]
type Step = "call.answered" | "call.ended"

/** What the webhooks told of the live calls, and who waits for more. */
const hub = (world: World) => {
  const told = new Map<string, Set<string>>()
  const waiting = new Map<string, (step: Step | null) => void>()
  const stopping = new AbortController()
  const have = (callId: string, type: string) => told.get(callId)?.has(type) === true
  const deaf = world.receiver.listen((event: Event) => {
    const callId = String(event.data["call_id"])
    told.set(callId, (told.get(callId) ?? new Set()).add(event.event_type))
    if (event.event_type === "call.answered" || event.event_type === "call.ended")
      waiting.get(callId)?.(event.event_type)
  })
  return {
    have,
    stop: () => {
      deaf()
      stopping.abort()
      for (const wake of waiting.values()) wake(null)
    },
    /** The first of these that was told; null after `withinMs`, or when all is stopped. */
    next: (callId: string, withinMs: number, ...steps: ReadonlyArray<Step>): Promise<Step | null> => {
      const known = steps.find((step) => have(callId, step))
      if (known !== undefined || stopping.signal.aborted) return Promise.resolve(known ?? null)
      return new Promise((done) => {
        const finish = (step: Step | null) => {
          if (step !== null && !steps.includes(step)) return
          clearTimeout(timer)
          waiting.delete(callId)
          done(step)
        }
        const timer = setTimeout(() => finish(null), withinMs)
        waiting.set(callId, finish)
      })
    }
  }
}

export const start = (world: World, options: Options): Load => {
  const { random } = options
  const { client, receiver, tenants } = world
  const told = hub(world)
  const live = new Set<string>()
  const stopping = new AbortController()
  const { signal } = stopping
  let count = 0

  const pick = <A>(items: ReadonlyArray<A>): A => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error("nothing to pick from")
    return item
  }
  const between = (low: number, high: number) => Math.floor(low + random() * (high - low))

  /** `nth`: of the call. Gives false when the call is over, or nobody answers any more. */
  const act = async (tenant: Tenant, callId: string, verb: Verb, nth = 0): Promise<boolean> => {
    if (signal.aborted) return false
    const key = `${options.name}-${++count}`
    const of = { apiKey: tenant.apiKey, key, path: `/v1/calls/${callId}/actions/${verb}` }
    // Its key stands in the path: what follows a path is sealed where it is stored, as digits are.
    const url = `${receiver.baseUrl}/tone.wav/${key}`
    // Nothing but this tells one of a call from another.
    const duration = 100 + nth
    const command = {
      play: { ...of, body: { url }, mark: `play ${url}` },
      send_dtmf: { ...of, body: { digits: "123", duration_millis: duration }, mark: `send_dtmf ${callId} ${duration}` },
      gather: {
        ...of,
        body: { maximum_digits: 4, timeout_millis: 60_000 + nth },
        mark: `gather ${callId} ${60_000 + nth}`
      },
      hangup: { ...of, body: {}, mark: `hangup ${callId}` }
    }[verb]
    const answer = await client.command(command)
    return answer !== null && answer.status < 300
  }

  const talk = async (tenant: Tenant, callId: string): Promise<void> => {
    let gathered = false
    for (let actions = between(0, 4); actions > 0; actions--) {
      if ((await told.next(callId, between(50, 600), "call.ended")) !== null) return
      const verb: Verb = pick(gathered ? others : verbs)
      gathered ||= verb === "gather"
      if (!(await act(tenant, callId, verb, actions))) return
    }
    // The others are ended by their phone, or by their time limit.
    if (random() < 0.6 && (await told.next(callId, between(100, options.talkSecs * 1000), "call.ended")) === null)
      await act(tenant, callId, "hangup")
  }

  const call = async (sip: boolean): Promise<void> => {
    const tenant = pick(tenants)
    const key = `${options.name}-${++count}`
    const routeId = sip ? tenant.sipRouteId : null
    const answer = await client.command({
      apiKey: tenant.apiKey,
      key,
      path: "/v1/calls",
      body: {
        from: tenant.number,
        to: routeId === null ? `+1202555${pick(phones)}` : `+1202556${between(1000, 9999)}`,
        customer_reference: key,
        timeout_secs: between(2, 4),
        time_limit_secs: between(1, options.talkSecs + 1),
        ...(routeId === null ? {} : { route_id: routeId })
      },
      mark: `call ${key}`
    })
    if (answer === null || answer.status !== 201) {
      await delay(200)
      return
    }
    const { id } = JSON.parse(answer.body) as { readonly id: string }
    live.add(id)
    const first = await told.next(id, 10_000, "call.answered", "call.ended")
    if (first === "call.answered") await talk(tenant, id)
    else if (first === null && !signal.aborted) await act(tenant, id, "hangup")
    if (!signal.aborted) await told.next(id, 30_000, "call.ended")
    live.delete(id)
  }

  const caller = async (index: number): Promise<void> => {
    await delay((options.rampMs * index) / options.calls)
    while (!signal.aborted) await call(index < options.sipCalls)
  }

  const done = Promise.all(Array.from({ length: options.calls }, (_, index) => caller(index)))
  return {
    inFlight: () => live.size,
    stop: async () => {
      stopping.abort()
      told.stop()
      await done
    }
  }
}
