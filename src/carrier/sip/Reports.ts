import { type Effect, Exit } from "effect"
import { mayBeDropped } from "../../media/message/MediaMessage.ts"
import type { CarrierEvent, CarrierSink } from "../Carrier.ts"

/** Runs an effect in a fiber of the carrier and tells how it ended; `settled` is called outside any fiber's effects. */
export type Run = <A, E>(effect: Effect.Effect<A, E>, settled: (exit: Exit.Exit<A, E>) => void) => void

/** Events of one leg that wait for their commit; beyond it digits are dropped, which a peer could otherwise pile up. */
export const maxWaiting = 256

/** The events of one leg, told one after the other. */
export interface Reports {
  /** `done` is called when the event is committed, or (`false`) the sink died of it. */
  readonly tell: (callId: string, event: CarrierEvent, done?: (committed: boolean) => void) => void
}

interface Waiting {
  readonly callId: string
  readonly event: CarrierEvent
  readonly done: (committed: boolean) => void
}

const ignore = (): void => undefined

export const make = (run: Run, sink: CarrierSink["Service"]): Reports => {
  const waiting: Array<Waiting> = []
  let telling = false
  const next = (): void => {
    const head = waiting[0]
    if (head === undefined || telling) return
    telling = true
    run(sink.tell(head.callId, head.event), (exit) => {
      waiting.shift()
      telling = false
      head.done(Exit.isSuccess(exit))
      next()
    })
  }
  return {
    tell: (callId, event, done = ignore) => {
      if (waiting.length >= maxWaiting && event.type === "media" && mayBeDropped(event.event)) return done(false)
      waiting.push({ callId, event, done })
      next()
    }
  }
}
