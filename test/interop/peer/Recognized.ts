/** Speech by content: flite's voice `rms` speaks, and Debian's pocketsphinx recognizes it. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Result } from "effect"
import * as Resample from "../../../src/protocol/audio/Resample.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import type * as PcmReader from "../../../src/protocol/audio/file/PcmReader.ts"
import * as PocketsphinxProcess from "../../../src/ports/speech/process/PocketsphinxProcess.ts"
import type { Phrase } from "../../../src/ports/speech/Recognition.ts"

/** Speaks a sentence at 16 kHz. */
export const spoken = (text: string): Int16Array => {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-speech-"))
  const file = join(folder, "said.wav")
  execFileSync("flite", ["-voice", "rms", "-t", text, "-o", file])
  const { sampleRate, samples } = Result.getOrThrow(Wav.read(readFileSync(file)))
  rmSync(folder, { recursive: true })
  if (sampleRate !== 16_000) throw new Error(`flite speaks at ${sampleRate} Hz`)
  return samples
}

/** Resamples it to 8 kHz. */
export const narrow = (samples: Int16Array): Int16Array => {
  const resampler = Resample.make(16_000, 8000)
  const narrowed = Resample.concat([resampler.process(samples), resampler.flush()])
  resampler.free()
  return narrowed
}

/**
 * The text where speech is judged, long enough and of words that belong together. Depending on where its frames of 10
 * ms begin, the recognizer misunderstands some words of the first sentence, until it has learnt the mean of the
 * spectrum.
 */
export const sentences = [
  "i would like to book a table for two people tomorrow evening",
  "please cancel my order and call me back on monday morning",
  "the meeting was moved to the second week of november",
  "he said that the train would arrive late in the afternoon",
  "we have to talk about the price of the house"
]

/** The phrases in stretches of sound. */
export const phrasesIn = async (
  stretches: ReadonlyArray<Int16Array>,
  rate: SampleRate
): Promise<ReadonlyArray<Phrase>> => {
  const engine = await Effect.runPromise(PocketsphinxProcess.find)
  if (engine === null) throw new Error("pocketsphinx is not installed")
  const waiting = [...stretches]
  const phrases: Array<Phrase> = []
  const take = Effect.sync(() => waiting.shift() ?? null)
  await Effect.runPromise(engine.recognize({ rate, language: "en", take }, (phrase) => void phrases.push(phrase)))
  return phrases
}

/** The word error rate of all `sentences`, in a sound that may begin and end with speech. */
export const wordErrorRateOf = async ({ sampleRate, samples }: PcmReader.Sound): Promise<number> => {
  if (sampleRate !== 8000 && sampleRate !== 16_000) throw new Error(`no speech is recognized at ${sampleRate} Hz`)
  const pause = new Int16Array(sampleRate)
  const heard = (await phrasesIn([pause, samples, pause], sampleRate)).flatMap(({ text }) => text.split(" "))
  return wordErrorRate(sentences.join(" ").split(" "), heard)
}

/** The share of the spoken words to change, add or leave out (Levenshtein). */
export const wordErrorRate = (said: ReadonlyArray<string>, heard: ReadonlyArray<string>): number => {
  let row = heard.map((_, at) => at + 1)
  said.forEach((word, line) => {
    let [before, left] = [line, line + 1]
    row = heard.map((other, at) => {
      const above = row[at] ?? 0
      left = Math.min(left + 1, above + 1, before + (word === other ? 0 : 1))
      before = above
      return left
    })
  })
  return (row.at(-1) ?? said.length) / said.length
}
