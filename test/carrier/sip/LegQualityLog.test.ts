import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger, Metric } from "effect"
import { LegSounds } from "../../../src/carrier/LegSounds.ts"
import * as LegQualityLog from "../../../src/carrier/sip/LegQualityLog.ts"
import type { Quality } from "../../../src/media/plane/MediaPlane.ts"
import * as Ids from "../../support/Ids.ts"

const quality: Quality = {
  codec: "PCMU",
  packetsReceived: 950,
  packetsLost: 50,
  packetsLate: 10,
  framesConcealed: 61,
  jitterMs: 12.34,
  jitterMeanMs: 8.08,
  jitterMaxMs: 40.44,
  roundTripMs: 40.4,
  packetsSent: 990,
  reported: { packetsLost: 3, jitterMs: 8, jitterMeanMs: 6.22, jitterMaxMs: 9.99, mos: 4.2, bpl: 25.1 },
  mos: 2.345,
  bpl: 25.1
}
const goneOf = (route: string | null, change: Partial<Quality> = {}): LegQualityLog.Gone => ({
  legId: Ids.leg("leg"),
  callId: Ids.call("call"),
  routeId: route === null ? null : Ids.route(route),
  quality: { ...quality, ...change }
})

/** The labels and counts of a histogram. */
const counts = (name: string) =>
  Effect.map(Metric.snapshot, (metrics) =>
    metrics.flatMap((metric) =>
      metric.id === name && metric.type === "Histogram" ? [[metric.attributes, metric.state.count] as const] : []
    )
  )

describe("How legs sounded", () => {
  it.effect("is a line of the log for each, by the ids of leg, call and route", () => {
    const lines: Array<unknown> = []
    const logger = Logger.map(Logger.formatStructured, (line) => void lines.push(line))
    return Effect.flatMap(LegQualityLog.make, (sounded) => sounded(goneOf("a"))).pipe(
      Effect.provide([Logger.layer([logger]), LegSounds.layer]),
      Effect.map(() => {
        const ids = { legId: "leg", callId: "call", routeId: "a" }
        const figures = { codec: "PCMU", mos: 2.35, packetsLost: 50, packetsLate: 10, roundTripMs: 40 }
        const jitter = { jitterMs: 12.3, jitterMeanMs: 8.1, jitterMaxMs: 40.4 }
        const reported = { reportedJitterMs: 8, reportedJitterMeanMs: 6.2, reportedJitterMaxMs: 10 }
        const annotations = { ...ids, ...figures, ...jitter, ...reported }
        expect(lines).toMatchObject([{ message: "audio of a leg", annotations }])
      })
    )
  })

  it.effect("is counted by route and codec, by no more routes than a hundred, and not where nothing was heard", () =>
    Effect.gen(function* () {
      const sounded = yield* LegQualityLog.make
      yield* sounded(goneOf("silent", { mos: null, packetsReceived: 0, packetsLost: 0 }))
      for (let n = 0; n < 150; n++) yield* sounded(goneOf(`route ${n}`))
      yield* sounded(goneOf("route 1", { codec: "G722" }))
      yield* sounded(goneOf(null))
      for (const name of ["call_audio_mos", "call_audio_loss_ratio", "call_audio_jitter_seconds"]) {
        const found = yield* counts(name)
        expect(found.length).toBe(103)
        expect(found).toContainEqual([{ route: "other", codec: "PCMU" }, 50])
        expect(found).toContainEqual([{ route: "none", codec: "PCMU" }, 1])
        expect(found).toContainEqual([{ route: "route 1", codec: "G722" }, 1])
      }
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.provide(LegSounds.layer))
  )
})
