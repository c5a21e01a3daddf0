import { Option, Schema } from "effect"
import type { Phrase } from "../Recognition.ts"
import { type RecognizerDialect, other } from "./RecognizerDialect.ts"

/** The server's result for the sound so far; only a final one has `text`. */
const Said = Schema.fromJsonString(
  Schema.Struct({
    partial: Schema.optionalKey(Schema.String),
    text: Schema.optionalKey(Schema.String),
    result: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          word: Schema.String,
          start: Schema.Finite,
          end: Schema.Finite,
          conf: Schema.optionalKey(Schema.Finite)
        })
      )
    )
  })
)
const decode = Schema.decodeUnknownOption(Said)

const mean = (values: ReadonlyArray<number>): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

const phraseOf = (text: string, result: (typeof Said.Type)["result"] = [], sentMs: number): Phrase => {
  const words = result.map(({ conf = null, end, start, word }) => ({
    word,
    startMs: start * 1000,
    endMs: end * 1000,
    confidence: conf
  }))
  return {
    text,
    confidence: mean(words.flatMap(({ confidence }) => (confidence === null ? [] : [confidence]))),
    startMs: words[0]?.startMs ?? sentMs,
    endMs: words.at(-1)?.endMs ?? sentMs,
    words
  }
}

/** A Vosk server (alphacep/vosk-server). Its model decides the language. */
export const vosk: RecognizerDialect = {
  headers: {},
  path: () => "/",
  hello: ({ rate }) => [JSON.stringify({ config: { sample_rate: rate, words: true, max_alternatives: 0 } })],
  keepAlive: null,
  // The server compares exactly these characters.
  goodbye: ['{"eof" : 1}'],
  read: (message, sentMs) => {
    const said = Option.getOrNull(decode(message))
    if (said === null) return null
    return said.text === undefined || said.text === ""
      ? other
      : { type: "phrase", phrase: phraseOf(said.text, said.result, sentMs) }
  }
}
