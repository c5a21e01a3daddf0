import { Effect } from "effect"
import type * as Speech from "../../../ports/speech/Engine.ts"
import type * as Recognition from "../../../ports/speech/Recognition.ts"
import * as ReadableTones from "./ReadableTones.ts"

const rate = 16_000

/** The text of SSML without its marks. */
const plain = (text: string): string =>
  text
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&")

/** The form in which texts are compared once they are heard. */
export const normal = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const engine = (name: string, voices: Speech.Engine["voices"]): Speech.Engine => ({
  name,
  voices,
  takesSsml: true,
  places: 1_000,
  ahead: 0,
  speak: ({ isSsml, text }, give) =>
    Effect.sync(() => give({ rate, samples: ReadableTones.write(`${normal(isSsml ? plain(text) : text)} `, rate) }))
})

/** Engines whose speech phones can read, in any language: `female`, `male`, and these `<engine>.<voice>`. */
export const engines = (voices: ReadonlyArray<string>): ReadonlyArray<Speech.Engine> => {
  const named = new Map<string, Array<Speech.Voice>>()
  for (const voice of voices) {
    const dot = voice.indexOf(".")
    if (dot < 1) throw new Error(`voices: ${voice} is no <engine>.<voice>`)
    const own = named.get(voice.slice(0, dot)) ?? []
    named.set(voice.slice(0, dot), [...own, { name: voice.slice(dot + 1), language: null, gender: null }])
  }
  return [
    engine("tones", [
      { name: "female", language: null, gender: "female" },
      { name: "male", language: null, gender: "male" }
    ]),
    ...[...named].map(([name, own]) => engine(name, own))
  ]
}

/** Recognizes the speech of these engines, and no other. */
export const recognizer: Recognition.Engine = {
  name: "tones",
  mostRate: rate,
  places: 1_000,
  speaks: () => true,
  recognize: (sound, give) =>
    Effect.gen(function* () {
      const length = sound.rate / 50
      const reader = ReadableTones.reader(sound.rate)
      let rest = new Int16Array(0)
      let heardMs = 0
      let given = 0
      const tell = (isOver: boolean): void => {
        for (const phrase of reader.phrases().slice(given)) {
          if (!isOver && heardMs - phrase.endMs < 400) return
          given++
          const text = normal(phrase.text)
          if (text === "") continue
          give({ text, startMs: phrase.startMs, endMs: phrase.endMs, confidence: 1, words: [] })
        }
      }
      for (let next = yield* sound.take; next !== null; next = yield* sound.take) {
        const samples = new Int16Array(rest.length + next.length)
        samples.set(rest)
        samples.set(next, rest.length)
        let at = 0
        for (; at + length <= samples.length; at += length) {
          reader.hear(samples.subarray(at, at + length), heardMs)
          heardMs += 20
        }
        rest = samples.slice(at)
        tell(false)
      }
      reader.hear(new Int16Array(length), heardMs)
      tell(true)
    })
}
