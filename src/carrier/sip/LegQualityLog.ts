import { Effect, Metric } from "effect"
import type { CallId, LegId, RouteId } from "../../domain/Id.ts"
import type { Quality } from "../../media/plane/MediaPlane.ts"
import { LegSounds } from "../LegSounds.ts"

/**
 * Logs the sound quality of the legs of trunks: a line for each when its media has gone, and histograms by route and
 * codec. Beyond `maxRoutes` routes share the label `other`.
 */
const maxRoutes = 100

const opinion = Metric.histogram("call_audio_mos", {
  description: "Mean opinion score of what was received on a leg, by the E-model, ITU-T G.107",
  boundaries: [1.5, 2, 2.6, 3.1, 3.6, 4, 4.2, 4.35, 4.5]
})
const loss = Metric.histogram("call_audio_loss_ratio", {
  description: "Share of the packets of a leg that were lost or came too late",
  boundaries: [0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 1]
})
const jitter = Metric.histogram("call_audio_jitter_seconds", {
  description: "Interarrival jitter of a leg at its end, RFC 3550 section 6.4.1",
  boundaries: [0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5]
})
const concealed = Metric.counter("call_audio_frames_concealed_total", {
  description: "Frames of 20 ms of which at least a part was made up",
  incremental: true
})

export interface Gone {
  readonly legId: LegId
  readonly callId: CallId | null
  readonly routeId: RouteId | null
  /** Null when nothing was measured. */
  readonly quality: Quality | null
}

/** Null when no packet arrived. */
const lossOf = ({ packetsLate, packetsLost, packetsReceived }: Quality): number | null =>
  packetsReceived + packetsLost === 0 ? null : (packetsLost + packetsLate) / (packetsReceived + packetsLost)

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))

export const make = Effect.gen(function* () {
  const sounds = yield* LegSounds
  const routes = new Set<string>()

  const labelOf = (route: RouteId | null): string => {
    if (route === null) return "none"
    if (routes.size < maxRoutes) routes.add(route)
    return routes.has(route) ? route : "other"
  }

  const measured = ({ callId, legId, routeId }: Gone, quality: Quality): Effect.Effect<void> => {
    const { codec, framesConcealed, jitterMs, mos, packetsLate, packetsLost, packetsReceived, reported, roundTripMs } =
      quality
    const written = Effect.annotateLogs(Effect.logInfo("audio of a leg"), {
      callId,
      legId,
      routeId,
      codec,
      mos: mos === null ? null : rounded(mos, 2),
      packetsReceived,
      packetsLost,
      packetsLate,
      framesConcealed,
      jitterMs: rounded(jitterMs, 1),
      jitterMeanMs: rounded(quality.jitterMeanMs, 1),
      jitterMaxMs: rounded(quality.jitterMaxMs, 1),
      roundTripMs: roundTripMs === null ? null : Math.round(roundTripMs),
      reportedLost: reported?.packetsLost ?? null,
      reportedJitterMs: reported === null ? null : rounded(reported.jitterMs, 1),
      reportedJitterMeanMs: reported === null ? null : rounded(reported.jitterMeanMs, 1),
      reportedJitterMaxMs: reported === null ? null : rounded(reported.jitterMaxMs, 1)
    })
    // A leg that received nothing gives no information on a trunk's audio.
    if (mos === null) return written
    const of = { route: labelOf(routeId), codec }
    const share = lossOf(quality) ?? 0
    return Effect.all(
      [
        written,
        Metric.update(Metric.withAttributes(opinion, of), mos),
        Metric.update(Metric.withAttributes(loss, of), share),
        Metric.update(Metric.withAttributes(jitter, of), jitterMs / 1000),
        Metric.update(Metric.withAttributes(concealed, of), framesConcealed)
      ],
      { discard: true }
    )
  }

  return (gone: Gone): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { legId, quality } = gone
      if (quality === null) {
        sounds.tell(legId, null)
        return Effect.void
      }
      const { codec, jitterMaxMs, jitterMeanMs, jitterMs, mos, packetsReceived } = quality
      sounds.tell(legId, { codec, packetsReceived, loss: lossOf(quality), jitterMs, jitterMeanMs, jitterMaxMs, mos })
      return measured(gone, quality)
    })
})
