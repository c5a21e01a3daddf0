import { Clock, Context, Data, Deferred, Effect, Exit, FiberSet, Layer, Metric, type Scope } from "effect"
import * as FairSemaphore from "../../domain/fair/FairSemaphore.ts"
import type { Piece } from "../../protocol/audio/file/Pieces.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as FairShare from "../../domain/fair/FairShare.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { Egress, type EgressError } from "../../ports/egress/Egress.ts"
import type { SpeechFailed } from "../../ports/speech/Engine.ts"
import { AudioDecoder, type AudioFile } from "./AudioDecoder.ts"
import * as AudioMetrics from "./AudioMetrics.ts"
import type { Playable, Speech } from "../../ports/media/PlaybackMessages.ts"
import type { PlaybackFailure } from "../plane/Protocol.ts"
import { Synthesizer } from "../../ports/speech/Synthesizer.ts"
import * as SoundCache from "./SoundCache.ts"
import * as Speeches from "./Speeches.ts"
import type * as SpeechTrack from "./SpeechTrack.ts"
import * as Track from "./Track.ts"

export class AudioUnavailable extends Data.TaggedError("AudioUnavailable")<{ readonly reason: PlaybackFailure }> {}

/** The bounds of fetching and keeping. */
export const limits = {
  maxBytes: 10 * 1024 * 1024,
  maxRedirects: 3,
  timeoutMs: 10_000,
  /** The sum of the kept files and of their decoded pieces, in bytes. */
  keptBytes: 128 * 1024 * 1024,
  keptMs: 60_000
}

/** The charge for a kept sound besides its bytes, so that the number of small ones is bounded too. */
const entryBytes = 32 * 1024

/**
 * The rate at which a leg of this rate gets its sounds. A narrow-band leg plays them without a filter. Rates above 16
 * kHz would take much memory without an audible gain for prompts, so such a leg converts them itself.
 */
const kept = (rate: SampleRate): SampleRate => (rate < 16_000 ? 8000 : 16_000)

/** A sound that is played: it is read piece by piece at the speed of playback, over and over again. */
interface SoundReader {
  readonly rate: SampleRate
  /** The next piece, shared by all players and only read; after the last piece comes the first again. Never empty. */
  readonly next: Effect.Effect<Piece, AudioUnavailable>
}

const keyOf = (tenant: TenantId, url: string): string => `url:${tenant}:${url}`

/** A fetch that runs, or waits for a place. */
interface Flight {
  readonly done: Deferred.Deferred<Sound, AudioUnavailable>
  askers: number
}

interface Sound extends SoundCache.Kept {
  readonly file: AudioFile
  readonly tracks: Map<SampleRate, { readonly track: Track.Track; readers: number }>
}

/**
 * The sounds that legs play, one channel: the decoded files of `https` URLs, and speech (`sound/Speeches.ts`).
 *
 * Simultaneous requests of a tenant for one URL share one fetch. The file is then kept for a minute, with its decoded
 * pieces. Failures are not kept. Fetching and decoding are shared fairly by tenant (src/domain/README.md#fair-shares),
 * so tenants share no sound: one would wait for another's turn, and learn what it plays.
 */
export class AudioSource extends Context.Service<
  AudioSource,
  {
    /** Opens a sound, which is kept until the scope closes. */
    readonly open: (
      tenant: TenantId,
      sound: Playable,
      rate: SampleRate
    ) => Effect.Effect<SoundReader, AudioUnavailable, Scope.Scope>
  }
>()("trunkline/media/AudioSource") {
  static readonly layer = Layer.effect(
    AudioSource,
    Effect.gen(function* () {
      const egress = yield* Egress
      const decoder = yield* AudioDecoder
      const clock = yield* Clock.Clock
      const now = () => Monotonic.read(clock)
      const fork = yield* FiberSet.makeRuntime()
      const run = (effect: Effect.Effect<void>): void => void fork(effect)
      const places = FairSemaphore.make(Policies.fetches)
      const flying = FairShare.counted(Policies.flights)
      /** Has the same keys as the shelf. */
      const flights = new Map<string, Flight>()
      const shelf = SoundCache.make<Sound | Speeches.SpeechSound>(limits.keptBytes)
      const speeches = Speeches.make<Sound>({ synthesizer: yield* Synthesizer, shelf, fork, now })

      const soundOf = (holder: string, file: AudioFile): Sound => {
        const tracks: Sound["tracks"] = new Map()
        const each = () => [...tracks.values()]
        return {
          holder,
          file,
          tracks,
          expiresAt: now() + limits.keptMs,
          bytes: () => each().reduce((sum, { track }) => sum + track.bytes(), entryBytes + file.bytes.byteLength),
          isIdle: () => each().every(({ readers }) => readers === 0)
        }
      }

      /** Whether pieces may be kept after they were heard, which needs half of the memory to be free. */
      const mayKeep = (): boolean => {
        shelf.shrink(now())
        return shelf.bytes() < limits.keptBytes / 2
      }

      const trackOf = ({ file, tracks }: Sound, rate: SampleRate) => {
        const known = tracks.get(rate) ?? { track: Track.make({ decoder, file, rate, run, mayKeep }), readers: 0 }
        tracks.set(rate, known)
        return known
      }

      const request = Effect.fnUntraced(function* (
        tenant: TenantId,
        url: string
      ): Effect.fn.Return<AudioFile, AudioUnavailable> {
        const { maxBytes, maxRedirects, timeoutMs } = limits
        const response = yield* Effect.mapError(
          egress.request({
            url,
            method: "GET",
            headers: { accept: "audio/wav, audio/mpeg, audio/*;q=0.5" },
            timeoutMs,
            maxRedirects,
            maxResponseBytes: maxBytes,
            pacedFor: tenant
          }),
          (error) => new AudioUnavailable({ reason: reasonOf(error) })
        )
        if (response.status < 200 || response.status > 299)
          return yield* new AudioUnavailable({ reason: `http_${response.status}` })
        return { bytes: shared(response.body), contentType: response.headers["content-type"] ?? null }
      })

      const fetch = Effect.fnUntraced(function* (tenant: TenantId, url: string, key: string, flight: Flight) {
        const file = yield* Effect.suspend(() => {
          if (flight.askers > 0) return shelf.mayAdd(tenant) ? request(tenant, url) : overloaded
          // All askers left while the fetch waited for its place. A later request starts a new flight.
          flights.delete(key)
          return overloaded
        }).pipe(
          places.within(tenant),
          Effect.catchTag("NoCapacity", () => overloaded)
        )
        const sound = soundOf(tenant, file)
        if (!shelf.add(key, sound, now())) return yield* overloaded
        return sound
      })

      const measure = Effect.suspend(() =>
        Effect.all([
          Metric.update(AudioMetrics.fetchesRunning, places.running()),
          Metric.update(AudioMetrics.fetchesWaiting, flights.size - places.running()),
          Metric.update(AudioMetrics.shelfBytes, shelf.bytes())
        ])
      )

      /** Fetches in a separate fiber, so that an interruption of the first caller does not affect the others. */
      const start = (tenant: TenantId, url: string, key: string) => {
        const flight: Flight = { done: Deferred.makeUnsafe(), askers: 1 }
        flights.set(key, flight)
        run(
          fetch(tenant, url, key, flight).pipe(
            Effect.onExit((exit) =>
              Effect.sync(() => {
                if (flights.get(key) === flight) flights.delete(key)
                flying.giveBack(tenant)
                // A defect ends the wait of every asker, and none learns its cause.
                const outcome = Exit.isFailure(exit) && !Exit.hasFails(exit) ? failed : exit
                Deferred.doneUnsafe(flight.done, outcome)
              })
            ),
            Effect.ignore,
            Effect.andThen(measure)
          )
        )
        return flight
      }

      /** Waits for a flight as one of its `askers`. */
      const wait = (flight: Flight) =>
        Effect.ensuring(
          Deferred.await(flight.done),
          Effect.sync(() => flight.askers--)
        )

      const find = (tenant: TenantId, url: string): Effect.Effect<Sound, AudioUnavailable> =>
        Effect.suspend(() => {
          const key = keyOf(tenant, url)
          const known = shelf.find(key, now())
          if (known !== null && "file" in known) return Effect.succeed(known)
          const flight = flights.get(key)
          if (flight !== undefined) {
            flight.askers++
            return wait(flight)
          }
          return flying.take(tenant) ? wait(start(tenant, url, key)) : overloaded
        })

      const openSpeech = Effect.fnUntraced(function* (tenant: TenantId, speech: Speech, rate: SampleRate) {
        const track = yield* Effect.mapError(speeches.open(tenant, speech, rate), unspoken)
        let at = 0
        const next = Effect.suspend(() => track.piece(at)).pipe(
          Effect.mapError(unspoken),
          Effect.tap(({ isLast, samples }) =>
            Effect.sync(() => {
              at = isLast ? 0 : at + samples.length
            })
          )
        )
        return { rate, next }
      })

      const open = Effect.fn("AudioSource.open")(function* (tenant: TenantId, playable: Playable, legRate: SampleRate) {
        if (playable.type === "speech") return yield* openSpeech(tenant, playable.speech, kept(legRate))
        const sound = yield* find(tenant, playable.url)
        const use = trackOf(sound, kept(legRate))
        const { track } = use
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            use.readers++
          }),
          () =>
            Effect.sync(() => {
              use.readers--
              track.trim(use.readers)
            })
        )
        let index = 0
        const next = Effect.suspend(() => track.piece(index, tenant)).pipe(
          Effect.mapError(({ reason }) => new AudioUnavailable({ reason })),
          Effect.tap(({ isLast }) =>
            Effect.sync(() => {
              index = isLast ? 0 : index + 1
            })
          )
        )
        return { rate: track.rate, next }
      })

      return { open }
    })
  )
}

const failed = Exit.fail(new AudioUnavailable({ reason: "fetch_failed" }))
const overloaded = Effect.fail(new AudioUnavailable({ reason: "overloaded" }))

/** Copies bytes into shared memory, so that several threads read them without copies of their own. */
const shared = (bytes: Uint8Array): Uint8Array => {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength))
  copy.set(bytes)
  return copy
}

const unspoken = (error: SpeechFailed | Speeches.NoShelf | SpeechTrack.NothingSaid): AudioUnavailable =>
  new AudioUnavailable({
    reason: error._tag === "NoShelf" ? "overloaded" : error._tag === "NothingSaid" ? "empty" : error.reason
  })

const reasonOf = (error: EgressError): PlaybackFailure => (error.reason === "too_large" ? "too_large" : "fetch_failed")
