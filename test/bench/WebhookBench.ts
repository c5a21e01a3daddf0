import { Effect, Layer } from "effect"
import * as Features from "../../src/app/composition/Features.ts"
import { Egress } from "../../src/ports/egress/Egress.ts"
import * as NodeEgress from "../../src/ports/egress/node/NodeEgress.ts"
import * as EgressTarget from "../../src/ports/egress/EgressTarget.ts"
import * as Dispatcher from "../../src/webhook/Dispatcher.ts"
import * as CpuTime from "./load/CpuTime.ts"
import * as Database from "./load/Database.ts"
import * as Receiver from "./load/Receiver.ts"
import { type DialledLeg, RecordingCarrier } from "./load/RecordingCarrier.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as Service from "./load/Service.ts"

const subscriptions = 50
const callsPerSubscription = 10
/** The service should not notice the first rate; two cores can just carry the second. */
const rates = { "250": 250, "500": 500 } as const
const rounds = 3
const secondsPerRound = 6

/**
 * 250 and 500 digits a second, evenly, over 500 live calls of 50 tenants with a subscription each; every target has a
 * separate name and connections. The time runs from the carrier's event to the receiver's whole request.
 */
export const run = Effect.gen(function* () {
  const names = Array.from({ length: subscriptions }, (_, index) => `hook-${index}.example`)
  const receiver = yield* Receiver.start(names)
  const egress = Layer.effect(
    Egress,
    NodeEgress.make({
      rules: EgressTarget.privateToo,
      resolve: async () => ["127.0.0.1"],
      extraAuthorities: receiver.authority
    })
  )
  const url = yield* Database.fresh
  const service = Service.layer(url, egress)
  const context = yield* Layer.build(
    Dispatcher.layer({ version: "bench", disable: () => Effect.void, disableAfterDays: null }).pipe(
      Layer.provide(Features.commitConnections),
      Layer.provideMerge(service)
    )
  )
  const targets = names.map((name) => `https://${name}:${receiver.port}/`)
  return yield* measure(targets, receiver.take).pipe(Effect.provide(context))
})

const measure = Effect.fnUntraced(function* (
  targets: ReadonlyArray<string>,
  take: Effect.Effect<ReadonlyArray<Receiver.Arrival>>
) {
  const carrier = yield* RecordingCarrier
  const byTenant: Array<ReadonlyArray<DialledLeg>> = []
  for (const [index, target] of targets.entries()) {
    const tenant = yield* Service.openTenant(index)
    yield* Service.subscribe(tenant.id, target)
    byTenant.push(yield* Service.answeredCalls(tenant, callsPerSubscription))
  }
  // Calls of the tenants alternate, so that neighbours in time have different targets.
  const legs = Array.from({ length: callsPerSubscription }, (_, call) =>
    byTenant.flatMap((calls) => calls[call] ?? [])
  ).flat()
  yield* Effect.sleep("2 seconds")
  yield* take

  const sequences = new Map(legs.map(({ callId }) => [callId, 2]))
  const sentAt = new Map<string, bigint>()
  let next = 0
  const send = Effect.suspend(() => {
    const leg = legs[next++ % legs.length]
    if (leg === undefined) return Effect.void
    const sequence = (sequences.get(leg.callId) ?? 0) + 1
    sequences.set(leg.callId, sequence)
    sentAt.set(`${leg.callId} ${sequence}`, process.hrtime.bigint())
    return carrier.digit(leg)
  })

  /** Sends the events that are due, then sleeps for a moment; a late wake-up is made up for. */
  const round = Effect.fnUntraced(function* (perSecond: number) {
    const total = perSecond * secondsPerRound
    const startedAt = performance.now()
    const before = yield* CpuTime.read
    for (let sent = 0; sent < total;) {
      const due = Math.min(total, Math.floor(((performance.now() - startedAt) * perSecond) / 1000))
      for (; sent < due; sent++) yield* Effect.forkChild(send)
      yield* Effect.sleep(1)
    }
    yield* Effect.sleep("1 second")
    const after = yield* CpuTime.read
    const arrivals = yield* take
    const latenciesMs = Float64Array.from(
      arrivals.flatMap(({ atNanos, callId, sequence }) => {
        const at = sentAt.get(`${callId} ${sequence}`)
        return at === undefined ? [] : [Number(atNanos - at) / 1e6]
      })
    ).sort()
    sentAt.clear()
    if (latenciesMs.length < total) yield* Effect.die(new Error(`${latenciesMs.length} of ${total} deliveries arrived`))
    return {
      p50: Rounds.percentile(latenciesMs, 0.5),
      p99: Rounds.percentile(latenciesMs, 0.99),
      cpuMicros: (after.own - before.own) / total,
      postgresMicros: (after.postgres - before.postgres) / total
    }
  })

  const results = yield* Rounds.interleaved(rounds, { "250": round(rates["250"]), "500": round(rates["500"]) })
  const of = (rate: keyof typeof rates, key: "p50" | "p99" | "cpuMicros" | "postgresMicros") =>
    Rounds.median(results[rate].map((each) => each[key]))
  return [
    Report.against("250 a second: p50, ms", of("250", "p50").toFixed(1), "< 10", of("250", "p50") < 10),
    Report.against("250 a second: p99, ms", of("250", "p99").toFixed(1), "< 50", of("250", "p99") < 50),
    Report.against("500 a second: p50, ms", of("500", "p50").toFixed(1), "< 15", of("500", "p50") < 15),
    Report.against("500 a second: p99, ms", of("500", "p99").toFixed(1), "< 100", of("500", "p99") < 100),
    ...(["250", "500"] as const).map((rate) =>
      Report.figure(
        `${rate} a second: CPU µs a delivery, ours / Postgres`,
        Report.cpu({ cpuMicros: of(rate, "cpuMicros"), postgresMicros: of(rate, "postgresMicros") })
      )
    )
  ]
})
