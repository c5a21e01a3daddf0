import { Effect, Layer } from "effect"
import * as HttpServer from "../../src/edge/http/Server.ts"
import { Journal } from "../../src/runtime/store/journal/Journal.ts"
import * as BareServer from "./load/BareServer.ts"
import * as Database from "./load/Database.ts"
import * as HttpLoad from "./load/HttpLoad.ts"
import * as Profile from "./Profile.ts"
import { RecordingCarrier } from "./load/RecordingCarrier.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as SampleCommit from "./SampleCommit.ts"
import * as Service from "./load/Service.ts"

const rounds = 7
const requests = 4_000
const connections = 128

/** Durable `POST /v1/calls` through the whole service, against a bare server that writes the same rows. */
export const run = Effect.gen(function* () {
  const url = yield* Database.fresh
  const context = yield* Layer.build(Service.http.pipe(Layer.provideMerge(Service.layer(url, Service.nowhere))))
  return yield* measure.pipe(Effect.provide(context))
})

const measure = Effect.gen(function* () {
  const service = yield* HttpServer.Listening
  const journal = yield* Journal
  const carrier = yield* RecordingCarrier
  const tenant = yield* Service.openTenant(0)
  const [placed] = SampleCommit.life(tenant, "bench sample")
  if (placed === undefined) throw new Error("a call has no first commit")
  const bare = yield* BareServer.start(journal, placed)
  const load = yield* HttpLoad.start
  const body = JSON.stringify({ from: tenant.number, to: "+12025550100" })
  const latencies: Array<Float64Array> = []

  const loaded = (port: number) =>
    Effect.map(load.run({ port, requests, connections, body, credential: tenant.credential }), (result) => {
      latencies.push(result.latenciesMs)
      return requests
    })
  // Runs between the rounds, untimed, so that no round carries the live calls of earlier ones.
  const hangUp = Effect.suspend(() =>
    Effect.forEach(carrier.take(), carrier.hungUp, { concurrency: 256, discard: true })
  )
  const toService = Effect.tap(Rounds.timed(loaded(service.port)), () => hangUp)

  const results = yield* Rounds.interleaved(rounds, {
    service: toService,
    bare: Rounds.timed(loaded(bare.port))
  })
  const ofService = latencies.filter((_, index) => index % 2 === 0).at(-1) ?? new Float64Array()
  const shares = yield* Profile.shares(loaded(service.port))
  yield* hangUp

  const whole = Rounds.medianRate(results.service)
  const least = Rounds.medianRate(results.bare)
  const ratios = results.service.map((rate, index) => rate.perSecond / (results.bare[index]?.perSecond ?? NaN))
  const ratio = Rounds.median(ratios)
  return [
    Report.against("service / bare server", ratio.toFixed(2), "≥ 0.4", ratio >= 0.4),
    Report.figure("  spread over the rounds", `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`),
    Report.figure("  by CPU of Postgres and this process", (Rounds.micros(least) / Rounds.micros(whole)).toFixed(2)),
    Report.figure("service, calls/s", Report.number(whole.perSecond)),
    Report.figure("bare server, calls/s", Report.number(least.perSecond)),
    Report.figure(
      "service, ms p50 / p99",
      `${Rounds.percentile(ofService, 0.5).toFixed(1)} / ${Rounds.percentile(ofService, 0.99).toFixed(1)}`
    ),
    Report.figure("bare server, CPU µs a request, ours / Postgres", Report.cpu(least)),
    Report.figure("service, CPU µs a request, ours / Postgres", Report.cpu(whole)),
    ...[...shares].map(([part, share]) => Report.figure(`  ${part}`, Report.number(share * whole.cpuMicros)))
  ]
})
