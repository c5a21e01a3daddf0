import type { Event } from "./Receiver.ts"
import type { World } from "../World.ts"

/** Steps of a call that the load waits for. */
export type Step = "call.answered" | "call.ended"

/** The calls as the webhooks report them, and the parts of the load that wait for the next report. */
export interface Told {
  /** The first of these steps that was reported; null after `withinMs`, or when all is stopped. */
  readonly next: (callId: string, withinMs: number, ...steps: ReadonlyArray<Step>) => Promise<Step | null>
  /** When the step was reported, on the monotonic clock. */
  readonly at: (callId: string, step: Step) => number | null
  /** The leg of an answered call of this tenant that has not ended, as far as it is known; not of this call. */
  readonly otherLeg: (tenantId: string, callId: string, random: () => number) => string | null
  /** The leg of a call that was answered; null: it was not, as far as it is known. */
  readonly legOf: (callId: string) => string | null
  /** The tenant of a call that was answered. */
  readonly answered: (tenantId: string, callId: string) => void
  /** Every waiting part gets null. */
  readonly stop: () => void
}

const isStep = (type: string): type is Step => type === "call.answered" || type === "call.ended"

/** `offered` is called for each call that comes in. */
export const start = (world: World, offered: (callId: string, to: string) => void): Told => {
  const heard = new Map<string, Map<Step, number>>()
  const legs = new Map<string, string>()
  const talking = new Map<string, Set<string>>()
  const waiting = new Map<string, Set<(step: Step | null) => void>>()
  const stopping = new AbortController()
  const deaf = world.receiver.listen(({ data, event_type: type }: Event) => {
    const callId = String(data["call_id"])
    if (type === "call.started" && data["direction"] === "inbound") offered(callId, String(data["to"]))
    if (!isStep(type)) return
    if (type === "call.answered") legs.set(callId, String(data["leg_id"]))
    else for (const calls of talking.values()) calls.delete(callId)
    heard.set(callId, (heard.get(callId) ?? new Map<Step, number>()).set(type, performance.now()))
    for (const wake of waiting.get(callId) ?? []) wake(type)
  })
  return {
    at: (callId, step) => heard.get(callId)?.get(step) ?? null,
    legOf: (callId) => legs.get(callId) ?? null,
    answered: (tenantId, callId) => {
      talking.set(tenantId, (talking.get(tenantId) ?? new Set()).add(callId))
    },
    otherLeg: (tenantId, callId, random) => {
      const others = [...(talking.get(tenantId) ?? [])].filter((other) => other !== callId)
      return legs.get(others[Math.floor(random() * others.length)] ?? "") ?? null
    },
    stop: () => {
      deaf()
      stopping.abort()
      for (const waiters of waiting.values()) for (const wake of waiters) wake(null)
    },
    next: (callId, withinMs, ...steps) => {
      const known = steps.find((step) => heard.get(callId)?.has(step) === true)
      if (known !== undefined || stopping.signal.aborted) return Promise.resolve(known ?? null)
      const waiters = waiting.get(callId) ?? new Set()
      waiting.set(callId, waiters)
      return new Promise((done) => {
        const finish = (step: Step | null) => {
          if (step !== null && !steps.includes(step)) return
          clearTimeout(timer)
          waiters.delete(finish)
          done(step)
        }
        const timer = setTimeout(() => finish(null), withinMs)
        waiters.add(finish)
      })
    }
  }
}
