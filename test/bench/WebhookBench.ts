import { Effect, Layer } from "effect"
import { Egress } from "../../src/egress/Egress.ts"
import * as NodeEgress from "../../src/egress/node/NodeEgress.ts"
import * as Target from "../../src/egress/Target.ts"
import * as Dispatcher from "../../src/webhook/Dispatcher.ts"
import * as CpuTime from "./CpuTime.ts"
import * as Database from "./Database.ts"
import * as Receiver from "./Receiver.ts"
import { type DialledLeg, RecordingCarrier } from "./RecordingCarrier.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as Service from "./Service.ts"

const subscriptions = 50
const callsPerSubscription = 10
const perSecond = 500
const rounds = 5
const secondsPerRound = 6

/**
 * 500 digits a second, evenly, over 500 live calls of 50 tenants with a subscription each; every target has a name and
 * connections of its own. The time runs from the carrier's event to the receiver's whole request.
 */
export const run = Effect.gen(function* () {
  const names = Array.from({ length: subscriptions }, (_, index) => `hook-${index}.example`)
  const receiver = yield* Receiver.start(names)
  const egress = Layer.effect(
    Egress,
    NodeEgress.make({
      rules: Target.privateToo,
      resolve: async () => ["127.0.0.1"],
      extraAuthorities: receiver.authority
    })
  )
  const url = yield* Database.fresh
  const service = Service.layer(url, egress)
  const context = yield* Layer.build(
    Dispatcher.layer({ version: "bench", disable: () => Effect.void, disableAfterDays: null }).pipe(
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
  // One call of each tenant after the other: neighbours in time have different targets.
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

  /** Sends what is due by now, then sleeps for a moment; a late wake-up is made good. */
  const round = Effect.gen(function* () {
    const total = perSecond * secondsPerRound
    const startedAt = performance.now()
    const before = yield* CpuTime.read
    for (let sent = 0; sent < total;) {
      const due = Math.min(total, Math.floor(((performance.now() - startedAt) * perSecond) / 1000))
      for (; sent < due; sent++) yield* Effect.forkChild(send)
      yield* Effect.sleep(1)
    }
    const after = yield* CpuTime.read
    yield* Effect.sleep("1 second")
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

  const results = yield* Rounds.interleaved(rounds, { deliveries: round })
  const of = (key: "p50" | "p99" | "cpuMicros" | "postgresMicros") =>
    Rounds.median(results.deliveries.map((each) => each[key]))
  return [
    Report.against("p50, ms", of("p50").toFixed(1), "< 15", of("p50") < 15),
    Report.against("p99, ms", of("p99").toFixed(1), "< 100", of("p99") < 100),
    Report.figure(
      "CPU µs a delivery, ours / Postgres",
      Report.cpu({ cpuMicros: of("cpuMicros"), postgresMicros: of("postgresMicros") })
    )
  ]
})
