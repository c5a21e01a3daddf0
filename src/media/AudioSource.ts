import { Context, Data, Deferred, Effect, Exit, FiberSet, Layer, Semaphore } from "effect"
import type { SampleRate } from "../audio/SampleRate.ts"
import * as Monotonic from "../domain/Monotonic.ts"
import { Egress, type EgressError } from "../egress/Egress.ts"
import { AudioDecoder } from "./AudioDecoder.ts"
import type { Sound } from "./Frame.ts"
import type { PlaybackFailure } from "./Protocol.ts"

export class AudioUnavailable extends Data.TaggedError("AudioUnavailable")<{ readonly reason: PlaybackFailure }> {}

/** Bounds of what is fetched and kept. */
export const limits = {
  maxBytes: 10 * 1024 * 1024,
  maxRedirects: 3,
  timeoutMs: 10_000,
  /** Sum of the decoded samples that are kept, in bytes; the least recently used go first. */
  cacheBytes: 64 * 1024 * 1024,
  cacheMs: 60_000,
  /** Fetches at once; the next one waits. */
  concurrency: 16,
  /** URLs that are being fetched or wait for it; the next one fails. */
  maxFlights: 512
}

interface Entry {
  readonly sound: Sound
  readonly expiresAt: number
}

/**
 * The rate at which a leg of this rate is given its sounds. A narrow leg plays them as they are, without a filter on
 * its way; above 16 kHz they would take much memory for what nobody hears in a prompt, and the leg raises them itself.
 */
const kept = (rate: SampleRate): SampleRate => (rate < 16_000 ? 8000 : 16_000)

/**
 * The sounds behind `https` URLs, decoded for the legs that play them, one channel.
 *
 * A URL that is asked for while it is being fetched is fetched once; afterwards it is kept for a minute, in each rate
 * that was asked for. Failures are not kept.
 */
export class AudioSource extends Context.Service<
  AudioSource,
  {
    /** Not empty; shared by all who ask, and only read. */
    readonly load: (url: string, rate: SampleRate) => Effect.Effect<Sound, AudioUnavailable>
  }
>()("trunkline/media/AudioSource") {
  static readonly layer = Layer.effect(
    AudioSource,
    Effect.gen(function* () {
      const egress = yield* Egress
      const decoder = yield* AudioDecoder
      const permits = yield* Semaphore.make(limits.concurrency)
      const run = yield* FiberSet.makeRuntime()
      const flights = new Map<string, Deferred.Deferred<Sound, AudioUnavailable>>()
      /** Keyed by rate and URL, as the flights are; the least recently used first. */
      const cache = new Map<string, Entry>()
      let cachedBytes = 0

      const forget = (key: string) => {
        cachedBytes -= cache.get(key)?.sound.samples.byteLength ?? 0
        cache.delete(key)
      }

      const keep = (key: string, sound: Sound, now: number) => {
        forget(key)
        cache.set(key, { sound, expiresAt: now + limits.cacheMs })
        cachedBytes += sound.samples.byteLength
        for (const [other, { expiresAt }] of cache)
          if (expiresAt <= now || cachedBytes > limits.cacheBytes) forget(other)
      }

      const cached = (key: string, now: number): Sound | null => {
        const entry = cache.get(key)
        if (entry === undefined || entry.expiresAt <= now) return null
        cache.delete(key)
        cache.set(key, entry)
        return entry.sound
      }

      const fetch = Effect.fnUntraced(function* (key: string, url: string, rate: SampleRate) {
        const { maxBytes, maxRedirects, timeoutMs } = limits
        const response = yield* Effect.mapError(
          egress.request({
            url,
            method: "GET",
            headers: { accept: "audio/wav, audio/mpeg, audio/*;q=0.5" },
            timeoutMs,
            maxRedirects,
            maxResponseBytes: maxBytes
          }),
          (error) => new AudioUnavailable({ reason: reasonOf(error) })
        )
        if (response.status < 200 || response.status > 299)
          return yield* new AudioUnavailable({ reason: `http_${response.status}` })
        const samples = yield* Effect.mapError(
          decoder.decode(response.body, response.headers["content-type"] ?? null, rate),
          ({ reason }) => new AudioUnavailable({ reason })
        )
        const sound: Sound = { rate, samples }
        keep(key, sound, yield* Monotonic.now)
        return sound
      })

      /** Fetches in a fiber of its own, so that an interruption of the first caller takes nothing from the others. */
      const start = (key: string, url: string, rate: SampleRate) =>
        Effect.sync(() => {
          const flight = Deferred.makeUnsafe<Sound, AudioUnavailable>()
          flights.set(key, flight)
          const landed = Effect.onExit(permits.withPermits(1)(fetch(key, url, rate)), (exit) =>
            Effect.sync(() => {
              flights.delete(key)
              // After a defect nobody may go on waiting, and no tenant may learn what it was.
              const outcome = Exit.isFailure(exit) && !Exit.hasFails(exit) ? failed : exit
              Deferred.doneUnsafe(flight, outcome)
            })
          )
          run(Effect.ignore(landed))
          return flight
        })

      const load = Effect.fn("AudioSource.load")(function* (url: string, legRate: SampleRate) {
        const rate = kept(legRate)
        const key = `${rate} ${url}`
        const known = cached(key, yield* Monotonic.now)
        if (known !== null) return known
        const flight = flights.get(key)
        if (flight !== undefined) return yield* Deferred.await(flight)
        if (flights.size >= limits.maxFlights) return yield* failed
        return yield* Deferred.await(yield* start(key, url, rate))
      })

      return { load }
    })
  )
}

const failed = Exit.fail(new AudioUnavailable({ reason: "fetch_failed" }))

const reasonOf = (error: EgressError): PlaybackFailure => (error.reason === "too_large" ? "too_large" : "fetch_failed")
