/** Recognition by content: flite's voice `rms` as the caller, at 8 kHz, heard by Debian's pocketsphinx. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Result } from "effect"
import { expect, it } from "vitest"
import * as Wav from "../../src/audio/Wav.ts"
import * as PocketsphinxProcess from "../../src/speech/process/PocketsphinxProcess.ts"
import type { Phrase } from "../../src/speech/Recognition.ts"

const sentences = [
  "i would like to book a table for two people tomorrow evening",
  "please cancel my order and call me back on monday morning"
]

const spoken = (text: string): Int16Array => {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-speech-"))
  const file = join(folder, "said.wav")
  execFileSync("flite", ["-voice", "rms", "-t", text, "-o", file])
  const { sampleRate, samples } = Result.getOrThrow(Wav.read(readFileSync(file)))
  rmSync(folder, { recursive: true })
  expect(sampleRate).toBe(16_000)
  return samples.filter((_, at) => at % 2 === 0)
}

/** Words to change, to add or to leave out (Levenshtein), of those that were said. */
const wordErrorRate = (said: ReadonlyArray<string>, heard: ReadonlyArray<string>): number => {
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

it(
  "understands a caller with a word error rate under 30 %, with the times of the words",
  { timeout: 60_000 },
  async () => {
    const engine = await Effect.runPromise(PocketsphinxProcess.find)
    if (engine === null) throw new Error("pocketsphinx is not installed")
    const pause = new Int16Array(8_000)
    const sound = sentences.flatMap((text) => [pause, spoken(text)]).concat(pause)
    const phrases: Array<Phrase> = []
    const take = Effect.sync(() => sound.shift() ?? null)
    await Effect.runPromise(
      engine.recognize({ rate: 8000, language: "en", take }, (phrase) => void phrases.push(phrase))
    )
    const heard = phrases.flatMap(({ text }) => text.split(" "))
    expect(wordErrorRate(sentences.join(" ").split(" "), heard)).toBeLessThan(0.3)
    const first = phrases[0]
    expect(first?.startMs).toBeGreaterThan(800)
    expect(first?.words.length).toBe(first?.text.split(" ").length)
  }
)
