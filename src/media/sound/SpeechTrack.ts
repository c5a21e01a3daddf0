import { Effect, Fiber } from "effect"
import type { Piece } from "../../protocol/audio/file/Pieces.ts"
import * as Resample from "../../protocol/audio/Resample.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { SpeechFailed, type Spoken } from "../../ports/speech/Engine.ts"
import type { Script } from "../../ports/speech/Synthesizer.ts"

/**
 * Speech at one rate, available to all its players while it is made.
 *
 * Its parts are made in their order, at most `aheadMs` ahead of the furthest reader, so that no part is made (and
 * perhaps paid for) that is never heard. A part that was begun is made to its end. Finished parts are kept for others
 * that play the same speech.
 */
export interface SpeechTrack {
  readonly rate: SampleRate
  /**
   * Returns the samples from `at` on, up to two seconds, as soon as some exist. The last piece has at least 20 ms,
   * unless the whole speech is shorter, so that it can be faded out.
   */
  readonly piece: (at: number) => Effect.Effect<Piece, SpeechFailed | NothingSaid>
  /** Makes the speech; runs once. An interruption fails it for its readers. */
  readonly run: Effect.Effect<void>
  readonly bytes: () => number
  /** Whether it is made to its end. */
  readonly isWhole: () => boolean
}

/** The text contains nothing to speak, like `...`. */
export class NothingSaid {
  readonly _tag = "NothingSaid"
}

const pieceMs = 2000
/** The least that a piece has, unless it is the last. */
const leastMs = 40
/** The length that is held back, because it may be the end. */
const heldMs = 20
const aheadMs = 15_000
/** The longest speech. */
const mostMs = 600_000

export const make = ({ ahead, parts }: Script, rate: SampleRate): SpeechTrack => {
  const samplesIn = (ms: number) => (ms * rate) / 1000
  let made = new Int16Array(samplesIn(4000))
  let length = 0
  /** The position of the furthest reader. */
  let readTo = 0
  let outcome: "whole" | SpeechFailed | null = null
  let resampler: Resample.Resampler | null = null
  let sourceRate = 0
  const waiting = new Set<() => void>()

  const changed = (): void => {
    const woken = [...waiting]
    waiting.clear()
    for (const wake of woken) wake()
  }

  const until = (isSo: () => boolean): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      const look = (): void => {
        if (isSo()) resume(Effect.void)
        else waiting.add(look)
      }
      look()
      return Effect.sync(() => void waiting.delete(look))
    })

  const append = (samples: Int16Array): void => {
    if (length + samples.length > made.length) {
      const grown = new Int16Array(2 * (length + samples.length))
      grown.set(made.subarray(0, length))
      made = grown
    }
    made.set(samples, length)
    length += samples.length
  }

  const end = (): void => {
    if (resampler !== null) append(resampler.flush())
    resampler?.free()
    resampler = null
  }

  const add = ({ rate: ofSource, samples }: Spoken): void => {
    if (outcome !== null) return
    if (resampler === null || ofSource !== sourceRate) {
      end()
      sourceRate = ofSource
      resampler = Resample.make(ofSource, rate)
    }
    append(resampler.process(samples))
    changed()
  }

  const isOver = (): boolean => outcome !== null
  const isWanted = (): boolean => length - readTo < samplesIn(aheadMs)

  /** Parts produce at the same time; output that comes before its turn waits. */
  const produce = Effect.gen(function* () {
    const early = parts.map((): Array<Spoken> | null => [])
    const started: Array<Fiber.Fiber<void, SpeechFailed>> = []
    for (let turn = 0; turn < parts.length; turn++) {
      yield* until(isWanted)
      for (const part of parts.slice(started.length, turn + ahead + 1)) {
        const index = started.length
        started.push(
          yield* Effect.forkChild(
            part((spoken) => {
              const line = early[index]
              if (line === null || line === undefined) add(spoken)
              else line.push(spoken)
            })
          )
        )
      }
      for (const spoken of early[turn] ?? []) add(spoken)
      early[turn] = null
      const fiber = started[turn]
      if (fiber !== undefined) yield* Fiber.join(fiber)
      if (length > samplesIn(mostMs)) return yield* new SpeechFailed({ reason: "too_large" })
    }
  })

  const settle = (of: "whole" | SpeechFailed): void => {
    if (outcome !== null) return
    end()
    outcome = of
    made = made.slice(0, length)
    changed()
  }

  const cut = (at: number): Piece => {
    const left = length - at
    const most = samplesIn(pieceMs)
    const held = isOver() ? 0 : samplesIn(heldMs)
    const isLast = outcome === "whole" && left < most + samplesIn(heldMs)
    const count = isLast ? left : Math.min(left - held, most)
    const samples = new Int16Array(new SharedArrayBuffer(2 * count))
    samples.set(made.subarray(at, at + count))
    readTo = Math.max(readTo, at + count)
    changed()
    return { samples, isLast }
  }

  return {
    rate,
    piece: (at) =>
      Effect.suspend(() =>
        Effect.flatMap(
          until(() => isOver() || length - at >= samplesIn(leastMs + heldMs)),
          (): Effect.Effect<Piece, SpeechFailed | NothingSaid> => {
            if (length > at) return Effect.succeed(cut(at))
            return Effect.fail(outcome === null || outcome === "whole" ? new NothingSaid() : outcome)
          }
        )
      ),
    run: produce.pipe(
      Effect.matchCauseEffect({
        onSuccess: () => Effect.sync(() => settle("whole")),
        onFailure: (cause) =>
          Effect.sync(() => {
            const failure = cause.reasons.find((reason) => reason._tag === "Fail")
            settle(failure?.error ?? new SpeechFailed({ reason: "speech_failed" }))
          })
      }),
      Effect.onInterrupt(() => Effect.sync(() => settle(new SpeechFailed({ reason: "speech_failed" }))))
    ),
    bytes: () => made.byteLength,
    isWhole: () => outcome === "whole"
  }
}
