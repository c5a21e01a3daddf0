import { type Effect, Exit } from "effect"
import type { CallId, LegId } from "../../../domain/Id.ts"
import * as Policies from "../../../domain/fair/Policies.ts"
import * as TokenBucket from "../../../domain/fair/TokenBucket.ts"
import { mayBeDropped } from "../../../ports/media/MediaMessage.ts"
import type { CarrierSink, LegReport, Told } from "../../Carrier.ts"
import type { OrderMemory } from "../../OrderMemory.ts"
import * as Telling from "../../Telling.ts"

/** Runs an effect in a fiber of the carrier, then calls `settled` with its exit, outside of any effect. */
export type Run = <A, E>(effect: Effect.Effect<A, E>, settled: (exit: Exit.Exit<A, E>) => void) => void

/**
 * How many events of one leg may wait for their commit. Beyond it digits are dropped, because a peer could pile them
 * up. Digits that arrive faster than a person presses keys (`Policies.digits`), in RTP or by INFO, are dropped too.
 */
export const maxWaiting = 256

/** Numbers the events of one leg and reports them one after the other. */
interface LegEvents {
  /** Calls `done` when the event is durable, when no call wants it, or when it was given up (`fault`). */
  readonly tell: (callId: CallId, at: number, report: LegReport, done?: (told: Told) => void) => void
  /** Calls `then` when every event reported so far is settled. */
  readonly caughtUp: (then: () => void) => void
}

interface Options {
  readonly run: Run
  readonly sink: CarrierSink["Service"]
  readonly incarnation: string
  readonly memory: Pick<OrderMemory<LegId>, "next">
}

type Waiting = { readonly effect: Effect.Effect<Told>; readonly done: (told: Told) => void } | (() => void)

const ignore = (): void => undefined

export const make = ({ incarnation, memory, run, sink }: Options, legId: LegId): LegEvents => {
  const waiting: Array<Waiting> = []
  const digits = TokenBucket.make(Policies.digits)
  let telling = false
  const next = (): void => {
    while (!telling) {
      const head = waiting[0]
      if (head === undefined) return
      if (typeof head === "function") {
        waiting.shift()
        head()
        continue
      }
      telling = true
      run(head.effect, (exit) => {
        waiting.shift()
        telling = false
        head.done(Exit.isSuccess(exit) ? exit.value : "fault")
        next()
      })
      return
    }
  }
  return {
    tell: (callId, at, report, done = ignore) => {
      const droppable = report.type === "media" && mayBeDropped(report.event)
      if (droppable && (waiting.length >= maxWaiting || !digits.take(at))) return done("fault")
      const event = { legId, at, incarnation, n: memory.next(legId, report.type === "ended"), ...report }
      waiting.push({ effect: Telling.untilDurable(sink.tell(callId, event), report.type === "ended"), done })
      next()
    },
    caughtUp: (then) => {
      waiting.push(then)
      next()
    }
  }
}
