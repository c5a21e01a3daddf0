import { Context, Data, Deferred, Effect, Exit, FiberSet, Layer, Semaphore } from "effect"
import * as Monotonic from "../domain/Monotonic.ts"
import { Egress, type EgressError } from "../egress/Egress.ts"
import { AudioDecoder } from "./AudioDecoder.ts"
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
  /** Fetches at once; the next wait. */
  concurrency: 16,
  /** URLs being fetched or waiting for it; the next fail. */
  maxFlights: 512
}

interface Entry {
  readonly samples: Int16Array
  readonly expiresAt: number
}

/**
 * The sounds behind `https` URLs, decoded to 8 kHz, one channel.
 *
 * A URL that is asked for while it is being fetched is fetched once; afterwards it is kept for a minute. Failures are not
 * kept.
 */
export class AudioSource extends Context.Service<
  AudioSource,
  {
    /** Not empty; shared by all who ask, and only read. */
    readonly load: (url: string) => Effect.Effect<Int16Array, AudioUnavailable>
  }
>()("trunkline/media/AudioSource") {
  static readonly layer = Layer.effect(
    AudioSource,
    Effect.gen(function* () {
      const egress = yield* Egress
      const decoder = yield* AudioDecoder
      const permits = yield* Semaphore.make(limits.concurrency)
      const run = yield* FiberSet.makeRuntime()
      const flights = new Map<string, Deferred.Deferred<Int16Array, AudioUnavailable>>()
      /** Oldest use first. */
      const cache = new Map<string, Entry>()
      let cachedBytes = 0

      const forget = (url: string) => {
        cachedBytes -= cache.get(url)?.samples.byteLength ?? 0
        cache.delete(url)
      }

      const keep = (url: string, samples: Int16Array, now: number) => {
        forget(url)
        cache.set(url, { samples, expiresAt: now + limits.cacheMs })
        cachedBytes += samples.byteLength
        for (const [other, { expiresAt }] of cache)
          if (expiresAt <= now || cachedBytes > limits.cacheBytes) forget(other)
      }

      const cached = (url: string, now: number): Int16Array | null => {
        const entry = cache.get(url)
        if (entry === undefined || entry.expiresAt <= now) return null
        cache.delete(url)
        cache.set(url, entry)
        return entry.samples
      }

      const fetch = Effect.fnUntraced(function* (url: string) {
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
          decoder.decode(response.body, response.headers["content-type"] ?? null),
          ({ reason }) => new AudioUnavailable({ reason })
        )
        keep(url, samples, yield* Monotonic.now)
        return samples
      })

      /** Fetches apart from who asked first, so that its interruption takes nothing from the others. */
      const start = (url: string) =>
        Effect.sync(() => {
          const flight = Deferred.makeUnsafe<Int16Array, AudioUnavailable>()
          flights.set(url, flight)
          const landed = Effect.onExit(permits.withPermits(1)(fetch(url)), (exit) =>
            Effect.sync(() => {
              flights.delete(url)
              // A defect must not leave anybody waiting, nor tell a tenant what it was.
              const outcome = Exit.isFailure(exit) && !Exit.hasFails(exit) ? failed : exit
              Deferred.doneUnsafe(flight, outcome)
            })
          )
          run(Effect.ignore(landed))
          return flight
        })

      const load = Effect.fn("AudioSource.load")(function* (url: string) {
        const known = cached(url, yield* Monotonic.now)
        if (known !== null) return known
        const flight = flights.get(url)
        if (flight !== undefined) return yield* Deferred.await(flight)
        if (flights.size >= limits.maxFlights) return yield* failed
        return yield* Deferred.await(yield* start(url))
      })

      return { load }
    })
  )
}

const failed = Exit.fail(new AudioUnavailable({ reason: "fetch_failed" }))

const reasonOf = (error: EgressError): PlaybackFailure => (error.reason === "too_large" ? "too_large" : "fetch_failed")
