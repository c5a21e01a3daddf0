import { Clock, Deferred, Effect } from "effect"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { type Engine, type Give, SpeechFailed, type Utterance } from "./Engine.ts"
import * as SpeechMetrics from "./SpeechMetrics.ts"

/** Bounds of one utterance. */
const limits = {
  /** The time until the first sound; `gapMs` is the time from one stretch to the next. */
  firstMs: 5_000,
  gapMs: 2_000,
  /** An engine that gives more does not speak the text. */
  mostSeconds: 600,
  leastRate: 4_000,
  mostRate: 192_000
}

/**
 * Has an engine speak, within bounds: an engine that hangs, breaks off, floods or gives no valid sound fails within a
 * bounded time and is stopped. Nothing is given after the end.
 */
export const speak = (engine: Engine, utterance: Utterance, give: Give): Effect.Effect<void, SpeechFailed> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const context = yield* Effect.context()
    const broken = yield* Deferred.make<never, SpeechFailed>()
    const beganAt = Monotonic.read(clock)
    let heardAt: number | null = null
    let seconds = 0
    let isOver = false

    const fail = (reason: SpeechFailed["reason"]): void => {
      isOver = true
      Deferred.doneUnsafe(broken, Effect.fail(new SpeechFailed({ reason })))
    }

    const checked: Give = ({ rate, samples }) => {
      if (isOver || samples.length === 0) return
      if (!(rate >= limits.leastRate && rate <= limits.mostRate)) return fail("speech_failed")
      seconds += samples.length / rate
      if (seconds > limits.mostSeconds) return fail("too_large")
      const now = Monotonic.read(clock)
      if (heardAt === null) SpeechMetrics.firstSound(engine.name).updateUnsafe((now - beganAt) / 1000, context)
      heardAt = now
      give({ rate, samples })
    }

    const due = () => (heardAt === null ? beganAt + limits.firstMs : heardAt + limits.gapMs)
    const silence = Effect.gen(function* () {
      for (let left = due() - Monotonic.read(clock); left > 0; left = due() - Monotonic.read(clock))
        yield* Effect.sleep(Math.ceil(left))
      return yield* new SpeechFailed({ reason: "speech_timeout" })
    })

    const spoken = Effect.catchCause(engine.speak(utterance, checked), (cause) =>
      // Engines are foreign code, so a defect counts as a failure.
      Effect.fail(failureOf(cause.reasons.find((reason) => reason._tag === "Fail")?.error))
    )
    yield* Effect.ensuring(
      Effect.raceFirst(spoken, Effect.raceFirst(silence, Deferred.await(broken))),
      Effect.sync(() => {
        isOver = true
      })
    )
  })

const failureOf = (error: SpeechFailed | undefined): SpeechFailed =>
  error ?? new SpeechFailed({ reason: "speech_failed" })
