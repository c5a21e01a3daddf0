import { Deferred, Effect } from "effect"
import { type Engine, type Give, type Phrase, RecognitionFailed, type Sound, type Word } from "./Recognition.ts"

/** Bounds of one session. */
const limits = {
  /** The time for the last results, once the sound is over. */
  lastMs: 10_000,
  /** Faster than anybody speaks. `phrasesAhead` is how far an engine may be ahead of this rate. */
  phrasesPerSecond: 4,
  phrasesAhead: 20,
  charactersPerSecond: 60,
  charactersAhead: 2_000,
  /** The most words of one phrase. */
  words: 1_000
}

const share = (confidence: number | null): number | null =>
  confidence === null || !Number.isFinite(confidence) ? null : Math.min(1, Math.max(0, confidence))

const within = (value: number, least: number, most: number): number =>
  Number.isFinite(value) ? Math.round(Math.min(most, Math.max(least, value))) : least

const printable = (text: string): string =>
  text
    // Control characters are replaced: no text of the database may hold NUL.
    .replaceAll(/\p{Cc}+/gu, " ")
    .toWellFormed()
    .trim()

/** The phrase with its times in order and within the sound so far; null when it has no text. */
const tidy = (phrase: Phrase, heardMs: number): Phrase | null => {
  const text = printable(phrase.text)
  if (text === "") return null
  const startMs = within(phrase.startMs, 0, heardMs)
  const endMs = within(phrase.endMs, startMs, heardMs)
  const words = phrase.words.flatMap((word): ReadonlyArray<Word> => {
    const said = printable(word.word)
    const from = within(word.startMs, startMs, endMs)
    return said === ""
      ? []
      : [{ word: said, startMs: from, endMs: within(word.endMs, from, endMs), confidence: share(word.confidence) }]
  })
  return { text, confidence: share(phrase.confidence), startMs, endMs, words }
}

/**
 * Has an engine recognize sound, within bounds: an engine that hangs at the end, floods or gives nonsense fails within
 * a bounded time and is stopped. Nothing is given after the end.
 */
export const recognize = (engine: Engine, sound: Sound, give: Give): Effect.Effect<void, RecognitionFailed> =>
  Effect.gen(function* () {
    const broken = yield* Deferred.make<never, RecognitionFailed>()
    const over = yield* Deferred.make<void>()
    let heardMs = 0
    let phrases = 0
    let characters = 0
    let isOver = false

    const fail = (reason: RecognitionFailed["reason"]): void => {
      isOver = true
      Deferred.doneUnsafe(broken, Effect.fail(new RecognitionFailed({ reason })))
    }

    const checked: Give = (phrase) => {
      if (isOver) return
      const seconds = heardMs / 1000
      phrases++
      characters += phrase.text.length
      if (
        phrases > limits.phrasesAhead + seconds * limits.phrasesPerSecond ||
        characters > limits.charactersAhead + seconds * limits.charactersPerSecond ||
        phrase.words.length > limits.words
      )
        return fail("flooded")
      const said = tidy(phrase, heardMs)
      if (said !== null) give(said)
    }

    const heard: Sound = {
      ...sound,
      take: Effect.map(sound.take, (samples) => {
        if (samples === null) Deferred.doneUnsafe(over, Effect.void)
        else heardMs += (samples.length * 1000) / sound.rate
        return samples
      })
    }
    const late = Deferred.await(over).pipe(
      Effect.andThen(Effect.sleep(limits.lastMs)),
      Effect.andThen(Effect.fail(new RecognitionFailed({ reason: "timeout" })))
    )
    const recognized = Effect.catchCause(engine.recognize(heard, checked), (cause) =>
      // Engines are foreign code, so a defect counts as a failure.
      Effect.fail(
        cause.reasons.find((reason) => reason._tag === "Fail")?.error ?? new RecognitionFailed({ reason: "failed" })
      )
    )
    yield* Effect.ensuring(
      Effect.raceFirst(recognized, Effect.raceFirst(late, Deferred.await(broken))),
      Effect.sync(() => {
        isOver = true
      })
    )
  })
