import { Clock, Context, Deferred, Effect, FiberSet, Layer, Metric, Queue } from "effect"
import { CarrierSink } from "../../carrier/Carrier.ts"
import * as Telling from "../../carrier/Telling.ts"
import type * as Id from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import type { CaptureEnd, Chunk, Wanted } from "../../media/capture/Capture.ts"
import type { Captured } from "../../media/capture/Captures.ts"
import { MediaPlane } from "../../media/plane/MediaPlane.ts"
import type { Attended, MediaEvent } from "../../ports/media/MediaMessage.ts"
import type * as Message from "../../ports/media/TranscriptionMessages.ts"
import { type Phrase, RecognitionFailed } from "../../ports/speech/Recognition.ts"
import { Recognizer } from "../../ports/speech/Recognizer.ts"
import * as TrackBuffer from "./TrackBuffer.ts"
import * as Metrics from "./TranscriptionMetrics.ts"

const chunkMs = 100
/** How far an engine may lag, or how long it may be away, before its session ends as `slow`. */
const patienceMs = 20_000
/** How many phrases may wait to be stored while the database is away. */
const mostUntold = 1_000

/** An item of a call that awaits the end of its session. */
interface Awaited {
  readonly id: Id.WorkId
  readonly callId: Id.CallId
  readonly legId: Id.LegId
}

type Start = Extract<Attended, { readonly type: "start_transcription" }>

const tracksOf = (tracks: Start["tracks"]): ReadonlyArray<Message.Track> =>
  tracks === "both" ? ["inbound", "outbound"] : [tracks]

const wanted = ({ tracks }: Start, mostRate: Wanted["mostRate"]): Wanted => ({
  tracks: tracksOf(tracks),
  chunkMs,
  mostRate,
  mostWaiting: patienceMs / chunkMs,
  beeps: { atStart: false, everyMs: null }
})

/** Ends of a capture after which a transcript is complete. */
const wholeEnds: ReadonlySet<CaptureEnd> = new Set(["stopped", "leg_closed", "unknown_leg"])

/** Why a session failed whose sound was cut off; null: it was not. */
const cutBy = (end: CaptureEnd): string | null =>
  wholeEnds.has(end) ? null : end === "receiver_slow" ? "slow" : "no_sound"

/**
 * Transcribes legs, guide/transcription.md: the sound of a capture goes to a recognizer, one session for each track,
 * and each phrase to the call. The media thread never waits for an engine, and a call waits for nothing.
 *
 * When the leg is gone the engine returns its last words, which the call awaits
 * (`telephony/call/verb/CallTranscription.ts`).
 */
export class Transcriber extends Context.Service<
  Transcriber,
  {
    readonly live: () => number
    /** After a start, when the calls are rebuilt: fails the sessions whose last words a dead process owed. */
    readonly recover: (awaited: ReadonlyArray<Awaited>) => Effect.Effect<void>
  }
>()("trunkline/transcription/Transcriber") {
  static readonly layer = Layer.effect(
    Transcriber,
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const sink = yield* CarrierSink
      const recognizer = yield* Recognizer
      const run = yield* FiberSet.makeRuntime()
      const clock = yield* Clock.Clock
      /** Sessions whose end is not reported yet. */
      const known = new Map<Id.WorkId, Captured>()
      const measure = Effect.suspend(() => Metric.update(Metrics.live, known.size))

      const tell = (of: { readonly callId: Id.CallId; readonly legId: Id.LegId }, event: MediaEvent) =>
        Effect.flatMap(Monotonic.now, (at) =>
          Telling.untilDurable(
            sink.tell(of.callId, { type: "media", legId: of.legId, at, incarnation: "transcriber", n: 0, event }),
            event.type === "ended"
          )
        )

      const start = (legId: Id.LegId, tenantId: Id.TenantId, media: Start): void => {
        const { callId, engine, id, language } = media
        if (known.has(id)) return
        const tracks = tracksOf(media.tracks)
        const of = { callId, legId }
        /** The sampling rate, once there is sound; null: the capture ended without any. */
        const sounds = Deferred.makeUnsafe<Chunk["rate"] | null>()
        const phrases = Effect.runSync(Queue.unbounded<MediaEvent | null>())
        const hearing = TrackBuffer.make(tracks.length, (chunks) => captured.taken(chunks))
        /** When the sound began, by the monotonic clock and by the media plane's. */
        let beganAt = 0
        let planeBeganAt = 0
        let heardMs = 0
        /** How long the media thread has stalled in all. */
        let holesMs = 0
        let cut: string | null = null

        const heard = (chunk: Chunk): void => {
          const lengthMs = ((chunk.tracks[0]?.length ?? 0) * 1000) / chunk.rate
          if (heardMs === 0) {
            // The media plane holds one frame back.
            beganAt = Monotonic.read(clock) - lengthMs - 20
            planeBeganAt = chunk.at
            Deferred.doneUnsafe(sounds, Effect.succeed(chunk.rate))
          }
          holesMs = Math.max(0, chunk.at - planeBeganAt - heardMs)
          heardMs += lengthMs
          hearing.hear(chunk)
        }
        const ended = (end: CaptureEnd): void => {
          cut = cutBy(end)
          Deferred.doneUnsafe(sounds, Effect.succeed(null))
          hearing.end()
        }
        const captured = Effect.runSync(
          plane.capture(legId, id, wanted(media, recognizer.mostRate(engine)), { heard, ended })
        )
        known.set(id, captured)

        const give =
          (track: Message.Track) =>
          ({ confidence, endMs, startMs, text, words }: Phrase): void => {
            Queue.offerUnsafe(phrases, {
              type: "transcribed",
              id,
              at: beganAt + holesMs + startMs,
              track,
              text,
              confidence,
              durationMs: endMs - startMs,
              words: words.map((word) => ({ ...word, startMs: word.startMs - startMs, endMs: word.endMs - startMs }))
            })
          }

        const recognize = Effect.gen(function* () {
          const rate = yield* Deferred.await(sounds)
          if (rate === null) return
          yield* Effect.forEach(
            tracks,
            (track, index) =>
              recognizer.recognize(tenantId, engine, { rate, language, take: hearing.take(index) }, give(track)),
            { concurrency: "unbounded", discard: true }
          )
        }).pipe(
          Effect.as(null),
          Effect.catchTag("RecognitionFailed", ({ reason }) => Effect.succeed<string | null>(reason)),
          Effect.catchDefect((defect) =>
            Effect.as(Effect.logError("a transcriber died", { call: callId, defect }), "internal_error")
          ),
          Effect.tap(() =>
            Effect.sync(() => {
              captured.stop()
              Queue.offerUnsafe(phrases, null)
            })
          )
        )

        /** Reports phrases in order, each after the one before is stored. */
        const tellAll = Effect.gen(function* () {
          for (let next = yield* Queue.take(phrases); next !== null; next = yield* Queue.take(phrases)) {
            if (Queue.sizeUnsafe(phrases) > mostUntold) return yield* new RecognitionFailed({ reason: "flooded" })
            yield* tell(of, next)
            yield* Metric.update(Metrics.phrases, 1)
          }
        })

        const transcribe = Effect.gen(function* () {
          yield* measure
          const [failure] = yield* Effect.all([recognize, tellAll], { concurrency: "unbounded" }).pipe(
            Effect.catchTag("RecognitionFailed", ({ reason }) => Effect.succeed([reason] as const))
          )
          captured.stop()
          const reason = failure ?? cut
          yield* Metric.update(Metric.withAttributes(Metrics.outcomes, { outcome: reason ?? "completed" }), 1)
          if (reason !== null)
            yield* Effect.logWarning("a transcription failed", { call: callId, transcription: id, engine, reason })
          yield* tell(of, { type: "ended", id, status: reason === null ? "completed" : "failed", reason })
        })

        run(
          Effect.ensuring(
            transcribe,
            Effect.suspend(() => {
              known.delete(id)
              return measure
            })
          )
        )
      }

      yield* plane.attend(["start_transcription", "stop_transcription"], (legId, tenantId, media) => {
        switch (media.type) {
          case "start_transcription":
            return start(legId, tenantId, media)
          case "stop_transcription":
            return known.get(media.transcription)?.stop()
        }
      })

      return Transcriber.of({
        live: () => known.size,
        recover: (awaited) =>
          Effect.sync(() => {
            for (const of of awaited.filter(({ id }) => !known.has(id)))
              run(tell(of, { type: "ended", id: of.id, status: "failed", reason: "service_restarted" }))
          })
      })
    })
  )
}
