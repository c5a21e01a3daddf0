import { setTimeout as delay } from "node:timers/promises"
import * as Meetings from "./Meetings.ts"
import * as Scenes from "../Scenes.ts"
import * as Told from "../peer/Told.ts"
import type { Tenant, World } from "../World.ts"

/**
 * Calls that are placed, taken, talked on and hung up at random, as many at once as `Options` name, until they are
 * stopped.
 */
export interface Load {
  /** Calls that were accepted and have not ended, as far as the webhooks show. */
  readonly inFlight: () => number
  /** Conferences that were created. */
  readonly rooms: () => number
  /** Calls of which this much was recorded, if nothing else ended the recording. */
  readonly recorded: () => ReadonlyArray<Recorded>
  /** Sends no new requests; completes when those under way have their answers, or never will. */
  readonly stop: () => Promise<void>
}

/** The one recording of a call, on the monotonic clock: it had begun by `since`, and continued until `until`. */
export interface Recorded {
  readonly callId: string
  readonly since: number
  /** Null: no request ended it. */
  readonly until: number | null
}

export interface Options {
  readonly calls: number
  /** How many of them go to the SIP peer. */
  readonly sipCalls: number
  /** Conferences at once, with calls of their own; absent: none. */
  readonly meetings?: number
  /** Whether that peer knows the method REFER; absent: it does. */
  readonly refersSip?: boolean
  readonly random: () => number
  /** The beginning of the keys of its requests: unique in one world. */
  readonly name: string
  /** The longest talk, in seconds. */
  readonly talkSecs: number
  /** The time in which the callers come in, in milliseconds. */
  readonly rampMs: number
}

/**
 * Echo, busy, no answer, rejects, voicemail, digits, hangs up, tone, conversation, digits as tones, early media,
 * refuses and ignores referrals. Phones that talk come most often.
 */
const phones = [
  ["0100", "0100", "0100", "0101", "0102", "0103", "0104", "0105", "0105", "0106"],
  ["0110", "0111", "0114", "0118", "0119", "0120"]
].flat()

/** The share of the calls to a phone that go to another tenant, which takes them. */
const toTenants = 0.15

export const start = (world: World, options: Options): Load => {
  const { random } = options
  const { client, receiver, tenants } = world
  const live = new Set<string>()
  const recorded = new Map<string, { since: number; until: number | null }>()
  const stopping = new AbortController()
  const { signal } = stopping
  let count = 0
  let rooms = 0

  const pick = <A>(items: ReadonlyArray<A>): A => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error("nothing to pick from")
    return item
  }
  const between = (low: number, high: number) => Math.floor(low + random() * (high - low))
  const nextKey = () => `${options.name}-${++count}`

  /** Gives false when it was refused, or the service no longer answers. */
  const act = async (
    tenant: Tenant,
    callId: string,
    verb: string,
    body: object,
    tag: number | string | null = null
  ): Promise<boolean> => {
    if (signal.aborted) return false
    const answer = await client.command({
      apiKey: tenant.apiKey,
      key: nextKey(),
      path: `/v1/calls/${callId}/actions/${verb}`,
      body,
      mark: typeof tag === "string" ? `${verb} ${tag}` : tag === null ? `${verb} ${callId}` : `${verb} ${callId} ${tag}`
    })
    return answer !== null && answer.status < 300
  }

  const recordsUntil = (callId: string, until: number): void => {
    const found = recorded.get(callId)
    if (found !== undefined) found.until = Math.min(found.until ?? until, until)
  }
  const records = (callId: string, since: number): void => {
    if (!recorded.has(callId)) recorded.set(callId, { since, until: null })
  }

  const hangUp = async (tenant: Tenant, callId: string): Promise<void> => {
    recordsUntil(callId, performance.now())
    await act(tenant, callId, "hangup", {})
  }

  const talk = async (tenant: Tenant, callId: string, isSip: boolean): Promise<void> => {
    told.answered(tenant.id, callId)
    const stage: Scenes.Stage = {
      random,
      key: nextKey,
      baseUrl: receiver.baseUrl,
      socketUrl: receiver.socketUrl,
      otherLeg: () => told.otherLeg(tenant.id, callId, random),
      pause: async (low, high) =>
        (await told.next(callId, between(low, high), "call.ended")) === null && !signal.aborted,
      act: (verb, body, tag) => act(tenant, callId, verb, body, tag),
      records: (since) => records(callId, since),
      recordsUntil: (until) => recordsUntil(callId, until)
    }
    const mayRefer = !isSip || options.refersSip !== false
    const scenes = [...Scenes.chosen(random, mayRefer)].map(async (scene) => {
      if (await stage.pause(0, 600)) await scene(stage)
    })
    // The others are ended by their phone, or by their time limit.
    if (random() < 0.6 && (await stage.pause(300, options.talkSecs * 1000))) await hangUp(tenant, callId)
    await Promise.all(scenes)
  }

  /** Plays a call from its answer to its end. */
  const accompany = async (tenant: Tenant, callId: string, isRecorded: boolean, isSip = false): Promise<void> => {
    live.add(callId)
    const first = await told.next(callId, 10_000, "call.answered", "call.ended")
    if (first === "call.answered") {
      const at = told.at(callId, "call.answered")
      if (isRecorded && at !== null) records(callId, at)
      await talk(tenant, callId, isSip)
    } else if (first === null && !signal.aborted) await hangUp(tenant, callId)
    if (!signal.aborted) await told.next(callId, 30_000, "call.ended")
    live.delete(callId)
  }

  const taken = new Set<Promise<void>>()
  /** Takes a call that came in: most are answered, with activities that an answer can begin, and some are rejected. */
  const take = async (tenant: Tenant, callId: string): Promise<void> => {
    await delay(between(0, 800))
    if (random() < 0.1) return void (await act(tenant, callId, "reject", { cause: "user_busy" }))
    const isRecorded = random() < 0.5
    const { channels, format } = Scenes.file(random)
    const accepted = await act(tenant, callId, "answer", {
      ...(isRecorded ? { record: "on_answer", record_channels: channels, record_format: format } : {}),
      ...(random() < 0.5 ? Scenes.stream({ key: nextKey, random, socketUrl: receiver.socketUrl }) : {})
    })
    if (accepted) await accompany(tenant, callId, isRecorded)
  }
  const told = Told.start(world, (callId, to) => {
    const tenant = tenants.find(({ number }) => number === to)
    if (tenant === undefined || signal.aborted) return
    const run = take(tenant, callId).finally(() => taken.delete(run))
    taken.add(run)
  })

  const callee = (tenant: Tenant, sip: boolean): string => {
    if (sip) return `+1202556${between(1000, 9999)}`
    const others = tenants.filter((other) => other !== tenant)
    return random() < toTenants && others.length > 0 ? pick(others).number : `+1202555${pick(phones)}`
  }

  const call = async (sip: boolean): Promise<void> => {
    const tenant = pick(tenants)
    const key = nextKey()
    const routeId = sip ? tenant.sipRouteId : null
    const record = pick(["off", "off", "on_answer", "on_ringing", "on_demand"])
    const { channels, format } = Scenes.file(random)
    const answer = await client.command({
      apiKey: tenant.apiKey,
      key,
      path: "/v1/calls",
      body: {
        from: tenant.number,
        to: callee(tenant, routeId !== null),
        customer_reference: key,
        timeout_secs: between(2, 4),
        time_limit_secs: between(1, options.talkSecs + 1),
        record,
        record_channels: channels,
        record_format: format,
        answering_machine_detection: pick(["off", "premium"]),
        ...(routeId === null ? {} : { route_id: routeId })
      },
      mark: `call ${key}`
    })
    if (answer === null || answer.status !== 201) {
      await delay(200)
      return
    }
    const { id } = JSON.parse(answer.body) as { readonly id: string }
    await accompany(tenant, id, record === "on_answer" || record === "on_ringing", routeId !== null)
  }

  const caller = async (index: number): Promise<void> => {
    await delay((options.rampMs * index) / options.calls)
    while (!signal.aborted) await call(index < options.sipCalls)
  }

  const meeting = async (index: number): Promise<void> => {
    await delay((options.rampMs * index) / (options.meetings ?? 1))
    while (!signal.aborted)
      await Meetings.hold(
        {
          world,
          told,
          random,
          key: nextKey,
          callee: (isSip) => (isSip ? `+1202556${between(1000, 9999)}` : `+1202555${pick(Meetings.talkers)}`),
          signal,
          opened: () => void rooms++,
          began: (callId) => void live.add(callId),
          ended: (callId) => void live.delete(callId)
        },
        options.sipCalls > 0 && index % 2 === 1
      )
  }

  const done = Promise.all([
    ...Array.from({ length: options.calls }, (_, index) => caller(index)),
    ...Array.from({ length: options.meetings ?? 0 }, (_, index) => meeting(index))
  ])
  return {
    inFlight: () => live.size,
    rooms: () => rooms,
    recorded: () => [...recorded].map(([callId, times]) => ({ callId, ...times })),
    stop: async () => {
      stopping.abort()
      told.stop()
      await done
      await Promise.all(taken)
    }
  }
}
