import { Effect, Layer } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Database from "./load/Database.ts"
import { type DialledLeg, RecordingCarrier } from "./load/RecordingCarrier.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as Service from "./load/Service.ts"

const steps = [1_000, 2_500, 4_000, 5_500, 7_000, 8_500, 10_000]
const rounds = 5
const eventsPerRound = 10_000
const senders = 256

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

/**
 * The heap of answered calls, and events with 10,000 of them alive: digits through actor, journal and fan-out, each of
 * which is sealed, and changes of a leg that hold no secret and cause no event. The tenant has one subscription, so
 * that each digit also makes a delivery row; no dispatcher runs, so that nothing is sent.
 */
export const run = Effect.gen(function* () {
  const url = yield* Database.fresh
  const context = yield* Layer.build(Service.layer(url, Service.nowhere))
  return yield* measure.pipe(Effect.provide(context))
})

/** Measured after all running work has finished. */
const heapBytes = Effect.gen(function* () {
  yield* Effect.sleep(200)
  for (let pass = 0; pass < 3; pass++) collectGarbage()
  return process.memoryUsage().heapUsed
})

const measure = Effect.gen(function* () {
  const carrier = yield* RecordingCarrier
  const tenant = yield* Service.openTenant(0)
  yield* Service.subscribe(tenant.id, "https://hook.example/")
  const legs: Array<DialledLeg> = []
  const heap: Array<readonly [calls: number, bytes: number]> = []
  for (const step of steps) {
    legs.push(...(yield* Service.answeredCalls(tenant, step - legs.length)))
    heap.push([legs.length, yield* heapBytes])
  }
  const bytesPerCall = Rounds.slope(heap)

  const burst = (event: (leg: DialledLeg) => Effect.Effect<void>) =>
    Rounds.timed(
      Effect.as(
        Effect.forEach(legs.slice(0, eventsPerRound), event, { concurrency: senders, discard: true }),
        eventsPerRound
      )
    )
  const measured = yield* Rounds.interleaved(rounds, { digits: burst(carrier.digit), moves: burst(carrier.moved) })
  const [digits, moves] = [Rounds.medianRate(measured.digits), Rounds.medianRate(measured.moves)]
  const kib = bytesPerCall / 1024
  return [
    Report.against("memory of a live call, KiB", kib.toFixed(1), "≤ 16", kib <= 16),
    Report.figure("digits/s with 10,000 live calls", Report.number(digits.perSecond)),
    Report.figure("CPU µs a digit, ours / Postgres", Report.cpu(digits)),
    Report.figure("events/s without a secret or a delivery", Report.number(moves.perSecond)),
    Report.figure("CPU µs of one, ours / Postgres", Report.cpu(moves))
  ]
})
