import { availableParallelism } from "node:os"
import { Clock, Effect, Layer, Metric } from "effect"
import * as Supervised from "../../../runtime/process/Supervised.ts"
import * as FairShare from "../../../domain/fair/FairShare.ts"
import * as Policies from "../../../domain/fair/Policies.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { AudioDecoder, AudioUnreadable } from "../../sound/AudioDecoder.ts"
import * as AudioMetrics from "../../sound/AudioMetrics.ts"
import * as DecoderThread from "./DecoderThread.ts"

/** One core is left to the media thread and to this one, and more than four threads would be of no use. */
const threads = Math.min(4, Math.max(1, availableParallelism() - 1))

const overloaded = Effect.fail(new AudioUnreadable({ reason: "overloaded" }))

/** The same with `count` threads of another program, and other limits. */
export const layerOf = (count: number, program: URL, { files = Policies.decodedFiles.capacity, hangMs = 5_000 } = {}) =>
  Layer.effect(
    AudioDecoder,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const context = yield* Effect.context()
      const log = Effect.runForkWith(context)
      const now = () => Monotonic.read(clock)
      const share = FairShare.counted({ capacity: files })

      const report = (report: DecoderThread.Report): void => {
        switch (report.type) {
          case "turn":
            return AudioMetrics.decodeCpu.updateUnsafe(report.cpuMs / 1000, context)
          case "waited":
            return AudioMetrics.decodeWait.updateUnsafe(report.ms / 1000, context)
          case "died":
            AudioMetrics.decoderDeaths.updateUnsafe(1, context)
            return void log(Effect.logWarning("a decoding thread was replaced", { reason: report.reason }))
        }
      }
      const pool = Array.from({ length: count }, () => DecoderThread.make({ program, now, report, hangMs }))
      yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(pool.map(({ close }) => close()))))
      const sum = (of: (thread: DecoderThread.DecoderThread) => number) =>
        pool.reduce((total, thread) => total + of(thread), 0)
      const measure = Effect.suspend(() =>
        Effect.all([
          Metric.update(
            AudioMetrics.decodeWaiting,
            sum(({ waiting }) => waiting())
          ),
          Metric.update(
            AudioMetrics.decodeOpen,
            sum(({ size }) => size())
          ),
          Metric.update(AudioMetrics.decodeAge, Math.max(...pool.map(({ ageMs }) => ageMs())) / 1000)
        ])
      )
      yield* Supervised.fork(
        "the figures of decoding",
        Effect.forever(Effect.andThen(Effect.sleep("1 second"), measure))
      )

      return {
        open: (file, rate) => {
          const reading = pool
            .reduce((least, thread) => (thread.size() < least.size() ? thread : least))
            .open(file, rate)
          let owner: string | null = null
          let isClosed = false
          const start = (holder: string): boolean => {
            if (isClosed || owner !== null) return true
            if (!share.take(holder)) return false
            owner = holder
            return true
          }
          return {
            next: (holder) => Effect.suspend(() => (start(holder) ? reading.next(holder) : overloaded)),
            close: () => {
              if (isClosed) return
              isClosed = true
              reading.close()
              if (owner !== null) share.giveBack(owner)
            }
          }
        }
      }
    })
  )

/**
 * Decodes sound files in separate threads of a lower priority than the media thread: neither a long file nor a codec
 * that hangs on hostile bytes delays a call. A file stays in the thread that had the fewest when it was opened.
 *
 * The threads are started at once, so that the first file does not wait for them, and do not keep the process alive.
 */
export const layer = layerOf(threads, new URL("./DecodeWorker.ts", import.meta.url))
