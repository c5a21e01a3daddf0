import { Context, Effect, FiberSet, Layer, Metric, Queue, type Scope } from "effect"
import * as FairSemaphore from "../../domain/fair/FairSemaphore.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import * as Supervised from "../../runtime/process/Supervised.ts"
import { CarrierSink } from "../../carrier/Carrier.ts"
import { RoomSink } from "../../carrier/room/Rooms.ts"
import * as Telling from "../../carrier/Telling.ts"
import * as Id from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import type { CaptureEnd, Wanted } from "../../media/capture/Capture.ts"
import type { Captured } from "../../media/capture/Captures.ts"
import { MediaPlane } from "../../media/plane/MediaPlane.ts"
import type { Attended, MediaEvent } from "../../ports/media/MediaMessage.ts"
import { type Finished, Spool, type Spooled, SpoolError } from "../../ports/storage/Spool.ts"
import { Storage, StorageError } from "../../ports/storage/Storage.ts"
import * as File from "./File.ts"
import * as LostRecordings from "./LostRecordings.ts"
import { Recordings } from "./Recording.ts"
import * as Metrics from "./RecordingMetrics.ts"
import * as RecordingWriter from "./RecordingWriter.ts"

/** A crash loses less than two of these. */
const chunkMs = 500
/** How long the disk may accept nothing before a recording is cut off. */
const patienceMs = 20_000

const wanted: Wanted = {
  tracks: ["inbound", "outbound"],
  chunkMs,
  mostRate: 16_000,
  mostWaiting: patienceMs / chunkMs,
  beeps: { atStart: false, everyMs: null }
}

/** The wait between two attempts to store a file or to report it, doubled each time. */
const firstWaitMs = 1_000
const longestWaitMs = 60_000
/** A little less than a call waits for the outcome (`telephony/call/verb/CallRecording.ts`). */
const giveUpAfterMs = 5.5 * 3_600_000

/** An item of a call or a conference that awaits the outcome of its recording. */
interface Awaited {
  readonly id: Id.WorkId
  /** The host's call, for a conference. */
  readonly callId: Id.CallId
  readonly conferenceId?: Id.ConferenceId
  readonly legId: Id.LegId
}

interface Lost extends Awaited {
  readonly wasAnswered: boolean
}

type Start = Extract<Attended, { readonly type: "start_recording" }>

/** Whether the capture ended without a request. */
const isCut = (end: CaptureEnd): boolean => end !== "stopped" && end !== "leg_closed" && end !== "unknown_leg"

/**
 * Records legs and rooms, guide/recordings.md: the sound of a capture is written to the spool at once. At the end it is
 * made into a file, stored, and reported to its owner, a call or a conference. Neither the media thread nor an owner
 * ever waits for a disk.
 *
 * Each step can be repeated: the next process completes the spool of a dead one, under the same key in the store and
 * with the same event, of which the owner accepts the first.
 */
export class Recorder extends Context.Service<
  Recorder,
  {
    /**
     * After a start, when calls and conferences are rebuilt: completes what the process before left on the spool, and
     * fails the recordings of `awaited` that are not there.
     */
    readonly recover: (awaited: ReadonlyArray<Lost>) => Effect.Effect<void>
    /**
     * Until the scope closes, fails every awaited recording that this process does not have, within half a minute
     * (`LostRecordings`).
     */
    readonly watch: (awaited: Effect.Effect<ReadonlyArray<Lost>>) => Effect.Effect<void, never, Scope.Scope>
    /** The number of recordings that are not stored yet. */
    readonly unstored: Effect.Effect<number>
  }
>()("trunkline/recording/Recorder") {
  static readonly layer = Layer.effect(
    Recorder,
    Effect.gen(function* () {
      const plane = yield* MediaPlane
      const sink = yield* CarrierSink
      const rooms = yield* RoomSink
      const spool = yield* Spool
      const storage = yield* Storage
      const recordings = yield* Recordings
      const run = yield* FiberSet.makeRuntime()
      const places = FairSemaphore.make(Policies.recordings)
      /** Every recording that is on the spool or will be, with its capture while that runs. */
      const known = new Map<Id.WorkId, Captured | null>()

      const measure = Effect.suspend(() =>
        Effect.andThen(
          Metric.update(Metrics.live, [...known.values()].filter((captured) => captured !== null).length),
          Metric.update(Metrics.unstored, known.size)
        )
      )

      /** Reports an event as long as its owner waits; `fault`: it could not be delivered. */
      const tell = ({ callId, conferenceId, legId }: Awaited, event: MediaEvent) =>
        Effect.gen(function* () {
          const at = yield* Monotonic.now
          const media = { type: "media", at, incarnation: "recorder", n: 0, event } as const
          const told =
            conferenceId === undefined
              ? sink.tell(callId, { ...media, legId })
              : rooms.tell(conferenceId, { ...media, conferenceId })
          while (true) {
            const answer = yield* Telling.untilDurable(told, true)
            if (answer !== "fault" || (yield* Monotonic.now) > at + giveUpAfterMs) return answer
            yield* Effect.sleep(longestWaitMs)
          }
        })

      /** Whether the recording has a row, as soon as the database answers. */
      const isStored = (id: Id.RecordingId, waitMs = firstWaitMs): Effect.Effect<boolean> =>
        Effect.catchDefect(recordings.isStored(id), (defect) =>
          Effect.logDebug("a recording cannot be looked up and is looked up again", defect).pipe(
            Effect.andThen(Effect.sleep(waitMs)),
            Effect.andThen(isStored(id, Math.min(longestWaitMs, 2 * waitMs)))
          )
        )

      const outcome = (of: Awaited, what: string) =>
        Effect.andThen(
          Metric.update(Metric.withAttributes(Metrics.outcomes, { outcome: what }), 1),
          what === "stored" || what === "no_sound"
            ? Effect.void
            : (what === "lost" ? Effect.logWarning : Effect.logError)("a recording failed", {
                call: of.callId,
                recording: of.id,
                reason: what
              })
        )

      /** Reports that there is no file, and removes the recording from the spool. */
      const fail = (of: Awaited, reason: string) =>
        Effect.gen(function* () {
          yield* spool.remove(of.id)
          yield* outcome(of, reason)
          yield* tell(of, { type: "ended", id: of.id, status: "failed", reason })
        })

      const put = (of: Spooled, key: string, file: Finished) =>
        Effect.gen(function* () {
          const last = (yield* Monotonic.now) + giveUpAfterMs
          for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, 2 * waitMs)) {
            const stored = yield* Effect.result(places.within(of.tenantId)(storage.put(key, file)))
            if (stored._tag === "Success") return
            yield* Metric.update(Metrics.refusals, 1)
            yield* Effect.logWarning("a recording was not stored and is tried again", {
              call: of.callId,
              recording: of.id,
              reason: stored.failure instanceof StorageError ? stored.failure.message : "too many wait"
            })
            if ((yield* Monotonic.now) + waitMs > last)
              return yield* new SpoolError({ reason: "storage_error", detail: "the store was away for too long" })
            yield* Effect.sleep(waitMs)
          }
        })

      /** Moves a recording from the spool to the store, and reports it. */
      const complete = (of: Spooled) =>
        Effect.gen(function* () {
          const file = yield* spool.finish(of)
          if (file === null) return yield* fail(of, "no_sound")
          const recording = { id: Id.schema("rec").make(`svc_rec_${of.id}`), format: of.format }
          const key = File.keyOf(recording, "available")
          yield* put(of, key, file)
          const { durationMs, sizeBytes } = file
          const downloadUrl = yield* recordings.link(recording)
          const told = yield* tell(of, { type: "recording_stored", id: of.id, durationMs, sizeBytes, downloadUrl })
          // It stays on the spool, where the next process finds it.
          if (told === "fault") return yield* outcome(of, "untold")
          // Its owner may have given it up, or its tenant may have deleted it by now.
          if (!(yield* isStored(recording.id))) yield* Effect.ignore(storage.remove(key))
          yield* spool.remove(of.id)
          yield* Metric.update(Metrics.seconds, durationMs / 1000)
          yield* outcome(of, "stored")
        }).pipe(
          Effect.catchTag("SpoolError", (error) =>
            Effect.andThen(Effect.logDebug("a recording failed", error), fail(of, error.reason))
          )
        )

      const forget = (id: Id.WorkId) =>
        Effect.suspend(() => {
          known.delete(id)
          return measure
        })

      /** Reports an outcome even after a defect; one that this process cannot report, the next process does. */
      const guarded = (of: Awaited, work: Effect.Effect<void>) =>
        work.pipe(
          Effect.catchDefect((defect) =>
            Effect.andThen(
              Effect.logError("a recorder died", { call: of.callId, recording: of.id, defect }),
              fail(of, "internal_error")
            )
          ),
          Effect.ensuring(forget(of.id))
        )

      const record = (
        of: Spooled,
        heard: Queue.Dequeue<RecordingWriter.Heard>,
        captured: Captured,
        ends: Pick<Start, "maxLengthMs" | "silenceMs"> & { readonly isPaused: () => boolean }
      ) =>
        Effect.gen(function* () {
          yield* measure
          const full = tell(of, { type: "recording_stopped", id: of.id })
          const end = yield* RecordingWriter.write(spool, of, { heard, captured, full, ...ends })
          known.set(of.id, null)
          yield* measure
          if (isCut(end)) {
            yield* Metric.update(Metric.withAttributes(Metrics.cut, { reason: end }), 1)
            yield* Effect.logWarning("a recording was cut off", { call: of.callId, recording: of.id, reason: end })
            yield* tell(of, { type: "recording_stopped", id: of.id })
          }
          yield* complete(of)
        }).pipe(
          Effect.catchTag("SpoolError", (error) => {
            captured.stop()
            return Effect.andThen(
              Effect.logWarning("the spool refused a recording", {
                call: of.callId,
                recording: of.id,
                detail: error.detail
              }),
              fail(of, error.reason)
            )
          })
        )

      const start = (legId: Id.LegId, tenantId: Id.TenantId, media: Start): void => {
        const { beepEveryMs, callId, channels, conferenceId, format, hasBeep, id, isTrimmed, maxLengthMs, silenceMs } =
          media
        if (known.has(id)) return
        const heard = Effect.runSync(Queue.unbounded<RecordingWriter.Heard>())
        const offer = (next: RecordingWriter.Heard) => void Queue.offerUnsafe(heard, next)
        let isPaused = false
        const capture = Effect.runSync(
          plane.capture(
            legId,
            id,
            { ...wanted, beeps: { atStart: hasBeep, everyMs: beepEveryMs } },
            { heard: offer, ended: offer }
          )
        )
        const captured: Captured = {
          ...capture,
          silence: (isSilent) => {
            isPaused = isSilent
            capture.silence(isSilent)
          }
        }
        known.set(id, captured)
        const ends = { maxLengthMs, isPaused: () => isPaused, ...(silenceMs === undefined ? {} : { silenceMs }) }
        const of: Spooled = {
          id,
          callId,
          ...(conferenceId === undefined ? {} : { conferenceId }),
          legId,
          tenantId,
          channels,
          format,
          ...(isTrimmed === undefined ? {} : { isTrimmed })
        }
        run(guarded(of, record(of, heard, captured, ends)))
      }

      yield* plane.attend(
        ["start_recording", "stop_recording", "pause_recording", "resume_recording"],
        (legId, tenantId, media) => {
          switch (media.type) {
            case "start_recording":
              return start(legId, tenantId, media)
            case "stop_recording":
              return known.get(media.recording)?.stop()
            case "pause_recording":
              return known.get(media.recording)?.silence(true)
            case "resume_recording":
              return known.get(media.recording)?.silence(false)
          }
        }
      )

      /** Completes recordings on the spool that no fiber handles, and fails those that are nowhere. */
      const takeUp = Effect.fnUntraced(function* (awaited: ReadonlyArray<Lost>, message: string) {
        const before = new Set(known.keys())
        const left = (yield* spool.left).filter(({ id }) => !before.has(id) && !known.has(id))
        for (const of of left) {
          known.set(of.id, null)
          run(guarded(of, complete(of)))
        }
        const lost = awaited.filter(({ id }) => !known.has(id))
        for (const of of lost) {
          known.set(of.id, null)
          // The sound of an answered leg is on the disk of another process, or was less than a chunk.
          run(guarded(of, fail(of, of.wasAnswered ? "lost" : "no_sound")))
        }
        yield* measure
        if (left.length + lost.length > 0)
          yield* Effect.logInfo(message, { recordings: left.length, lost: lost.length })
      })

      return Recorder.of({
        recover: (awaited) => takeUp(awaited, "recordings of the process before this one are completed"),
        watch: (awaited) =>
          Supervised.fork(
            "the watch over recordings",
            LostRecordings.watch({
              awaited,
              isKnown: (id) => known.has(id),
              lost: (lost) => takeUp(lost, "recordings that are waited for are taken up again")
            })
          ),
        unstored: Effect.sync(() => known.size)
      })
    })
  )
}
