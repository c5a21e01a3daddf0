import { setTimeout as delay } from "node:timers/promises"
import type * as Client from "../peer/Client.ts"
import type { Step, Told } from "../peer/Told.ts"
import type { Tenant, World } from "../World.ts"

/** Conferences, one after the other until the load is stopped, with calls that no other part of the load touches. */
export interface Options {
  readonly world: World
  readonly told: Told
  readonly random: () => number
  readonly key: () => string
  /** The number of a phone that is called, over SIP or simulated. */
  readonly callee: (isSip: boolean) => string
  readonly signal: AbortSignal
  /** Its conference was created. */
  readonly opened: () => void
  /** A call of the meeting begins or ends. */
  readonly began: (callId: string) => void
  readonly ended: (callId: string) => void
}

/** Echo, digits, tone and conversation, which talk. */
export const talkers = ["0100", "0100", "0105", "0110", "0111"]

/** A call that is placed by a repeated request, after its meeting has been given up, ends by itself. */
const callSecs = 8

export const hold = async (options: Options, isSip: boolean): Promise<void> => {
  const { began, callee, ended, key, opened, random, signal, told, world } = options
  const { client, tenants } = world
  const pick = <A>(items: ReadonlyArray<A>): A => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error("nothing to pick from")
    return item
  }
  const between = (low: number, high: number) => Math.floor(low + random() * (high - low))
  const tenant: Tenant = pick(tenants)

  const ask = async (path: string, body: object, mark: string): Promise<Client.Answer | null> =>
    signal.aborted ? null : client.command({ apiKey: tenant.apiKey, key: key(), path, body, mark })

  /** Places a call and gives its leg once it is answered; null: it was not. */
  const call = async (): Promise<string | null> => {
    const reference = key()
    const answer = await ask(
      "/v1/calls",
      {
        from: tenant.number,
        to: callee(isSip),
        customer_reference: reference,
        timeout_secs: 4,
        time_limit_secs: callSecs,
        ...(isSip ? { route_id: tenant.sipRouteId } : {})
      },
      `call ${reference}`
    )
    if (answer?.status !== 201) return null
    const { id } = JSON.parse(answer.body) as { readonly id: string }
    began(id)
    void told.next(id, 60_000, "call.ended").then(() => ended(id))
    return (await step(id, "call.answered", "call.ended")) === "call.answered" ? id : null
  }
  const step = (callId: string, ...steps: ReadonlyArray<Step>) => told.next(callId, 10_000, ...steps)

  const host = await call()
  if (host === null) return delay(200)
  const name = key()
  const created = await ask(
    "/v1/conferences/",
    {
      name,
      host_call_id: host,
      beep_enabled: pick(["never", "always"]),
      start_on_create: random() < 0.7,
      end_on_exit: random() < 0.6,
      max_participants: between(2, 6)
    },
    `conference ${name}`
  )
  if (created?.status !== 201) return
  opened()
  const { id } = JSON.parse(created.body) as { readonly id: string }
  const act = async (verb: string, body: object, tag: string | null = null) =>
    (await ask(`/v1/conferences/${id}/actions/${verb}/`, body, [verb, tag ?? id].join(" ")))?.status === 200

  /**
   * One member, who comes by a call of its own or is dialled in, changes its membership, and leaves in one way or
   * another.
   */
  const attend = async (isDialled: boolean): Promise<void> => {
    await delay(between(0, 800))
    let callId: string | null
    if (isDialled) {
      const reference = key()
      const dialled = await ask(
        `/v1/conferences/${id}/participants/`,
        { from: tenant.number, to: callee(false), timeout_secs: 4, customer_reference: reference },
        `call ${reference}`
      )
      if (dialled?.status !== 201) return
      callId = (JSON.parse(dialled.body) as { readonly call_id: string }).call_id
      if ((await step(callId, "call.answered", "call.ended")) !== "call.answered") return
    } else {
      callId = await call()
      if (callId === null || !(await act("join", { call_id: callId, mute: random() < 0.2 }, `${id} ${callId}`))) return
    }
    const legId = told.legOf(callId)
    await delay(between(100, 600))
    if (legId === null) return
    const legs = { leg_ids: [legId] }
    const tag = `${id} ${legId}`
    if (random() < 0.6 && (await act("mute", legs, tag))) {
      await delay(between(0, 500))
      await act("unmute", legs, tag)
    }
    if (random() < 0.5 && (await act("hold", legs, tag))) {
      await delay(between(0, 500))
      if (random() < 0.7) await act("unhold", legs, tag)
    }
    if (random() < 0.4) await act("supervise", { leg_id: legId, role: pick(["monitor", "barge"]) }, tag)
    await delay(between(0, 1_500))
    if (random() < 0.3) await ask(`/v1/calls/${callId}/actions/hangup`, {}, `hangup ${callId}`)
  }

  const doings = async (): Promise<void> => {
    if (random() < 0.6) await act("record_start", { format: pick(["wav", "mp3"]), channels: pick(["single", "dual"]) })
    await delay(between(0, 500))
    const url = `${world.receiver.baseUrl}/tone.wav/${key()}`
    if (random() < 0.7) await act("play", { url, loop: pick([1, 3]) }, url)
    if (random() < 0.4) await act("speak", { payload: "Good day. How are you?", voice: "female" })
    await delay(between(0, 1_000))
    if (random() < 0.3) await act("record_stop", {})
  }

  await Promise.all([attend(true), attend(false), ...(random() < 0.5 ? [attend(random() < 0.5)] : []), doings()])
  await delay(between(0, 2_000))
  if (random() < 0.7) await act("end", {})
  else await ask(`/v1/calls/${host}/actions/hangup`, {}, `hangup ${host}`)
  if (!signal.aborted) await told.next(host, 25_000, "call.ended")
}
