import { Deferred, Effect, FiberSet, Semaphore } from "effect"
import type {
  Admission,
  CarrierAdapter,
  CarrierCommand,
  CarrierSink,
  InboundOffer,
  LegFacts,
  LegReport,
  Told
} from "../../../src/carrier/Carrier.ts"
import * as OrderMemory from "../../../src/carrier/OrderMemory.ts"
import type { CallId, LegId } from "../../../src/domain/Id.ts"
import * as Monotonic from "../../../src/domain/time/Monotonic.ts"
import * as Telling from "../../../src/carrier/Telling.ts"

/** A sink whose engine can be away: events that are reported meanwhile wait for the next engine. */
export const makeLine = Effect.sync(() => {
  let engine: CarrierSink["Service"] | null = null
  let arrival = Deferred.makeUnsafe<void>()
  const reach: Effect.Effect<CarrierSink["Service"]> = Effect.suspend(() =>
    engine === null ? Effect.andThen(Deferred.await(arrival), reach) : Effect.succeed(engine)
  )
  return {
    connect: (sink: CarrierSink["Service"] | null): void => {
      engine = sink
      if (sink === null) arrival = Deferred.makeUnsafe()
      else Deferred.doneUnsafe(arrival, Effect.void)
    },
    sink: {
      offer: (offer: InboundOffer): Effect.Effect<Admission> => Effect.flatMap(reach, (sink) => sink.offer(offer)),
      tell: (callId: CallId, event: Parameters<CarrierSink["Service"]["tell"]>[1]): Effect.Effect<Told> =>
        Effect.flatMap(reach, (sink) => sink.tell(callId, event))
    }
  }
})

interface Leg {
  readonly callId: CallId
  state: LegFacts["state"]
  readonly telling: Semaphore.Semaphore
}

/** A carrier whose legs do what the test wants; it outlives engines. */
export const make = Effect.fnUntraced(function* (sink: CarrierSink["Service"], incarnation = "model") {
  const fork = yield* FiberSet.makeRuntime<never, Told>()
  const legs = new Map<LegId, Leg>()
  const applied: Array<CarrierCommand> = []
  const memory = OrderMemory.make({ now: () => Date.now(), isLive: (legId: LegId) => legs.has(legId) })
  let deaf = false

  /** Makes this happen to the leg now. The carrier reports it as soon as an engine listens. Gives the wall's time. */
  const happens = (legId: LegId, report: LegReport) =>
    Effect.flatMap(Monotonic.now, (at) =>
      Effect.sync(() => {
        const leg = legs.get(legId)
        if (leg === undefined) throw new Error(`no leg ${legId}`)
        const isEnd = report.type === "ended"
        if (report.type === "answered") leg.state = "answered"
        if (isEnd) leg.state = "over"
        const event = { legId, at, incarnation, n: memory.next(legId, isEnd), ...report }
        const told = leg.telling.withPermit(Telling.untilDurable(sink.tell(leg.callId, event), isEnd))
        fork(Effect.tap(told, () => Effect.sync(() => void (isEnd && legs.delete(legId)))))
        return Date.now()
      })
    )

  const apply = (command: CarrierCommand): Effect.Effect<unknown> => {
    applied.push(command)
    switch (command.type) {
      case "dial":
        legs.set(command.legId, { callId: command.callId, state: "alerting", telling: Semaphore.makeUnsafe(1) })
        return Effect.void
      case "hangup":
      case "reject":
        return legs.get(command.legId)?.state === "over" || !legs.has(command.legId)
          ? Effect.void
          : happens(command.legId, { type: "ended", cause: "hangup", sipStatus: null, by: "near" })
      default:
        return Effect.void
    }
  }

  const adapter: CarrierAdapter = {
    incarnation,
    interpret: (order) =>
      deaf || memory.admits(order.authority, order.command.legId, order.command.commandId) !== "yes"
        ? Effect.void
        : Effect.asVoid(apply(order.command)),
    snapshot: (authority, legIds) =>
      Effect.sync(() => {
        memory.obey(authority)
        const facts: Record<string, LegFacts> = {}
        for (const legId of legIds ?? legs.keys()) {
          const leg = legs.get(legId)
          if (leg !== undefined) facts[legId] = { state: leg.state, n: memory.last(legId), ageMs: 0, answeredMs: null }
        }
        return { incarnation, legs: facts }
      }),
    caughtUp: (legId) => legs.get(legId)?.telling.withPermit(Effect.void) ?? Effect.void
  }

  return {
    adapter,
    applied,
    happens,
    /** From now on commands are lost on their way. */
    setDeaf: (value: boolean) => void (deaf = value)
  }
})
