import { Option, Redacted, Schema } from "effect"
import type { Phrase } from "../Recognition.ts"
import { type RecognizerDialect, type Heard, other } from "./RecognizerDialect.ts"

const Alternative = Schema.Struct({
  transcript: Schema.String,
  confidence: Schema.optionalKey(Schema.Finite),
  words: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        word: Schema.String,
        punctuated_word: Schema.optionalKey(Schema.String),
        start: Schema.Finite,
        end: Schema.Finite,
        confidence: Schema.optionalKey(Schema.Finite)
      })
    )
  )
})

const Results = Schema.Struct({
  is_final: Schema.Boolean,
  start: Schema.Finite,
  duration: Schema.Finite,
  channel: Schema.Struct({ alternatives: Schema.Array(Alternative) })
})

const decodeType = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ type: Schema.String })))
const decodeResults = Schema.decodeUnknownOption(Schema.fromJsonString(Results))

const phraseOf = ({ duration, start }: typeof Results.Type, best: typeof Alternative.Type): Phrase => ({
  text: best.transcript,
  confidence: best.confidence ?? null,
  startMs: (best.words?.[0]?.start ?? start) * 1000,
  endMs: (best.words?.at(-1)?.end ?? start + duration) * 1000,
  words: (best.words ?? []).map(({ confidence = null, end, punctuated_word, start, word }) => ({
    word: punctuated_word ?? word,
    startMs: start * 1000,
    endMs: end * 1000,
    confidence
  }))
})

const resultsOf = (message: string): Heard | null => {
  const results = Option.getOrNull(decodeResults(message))
  const best = results?.channel.alternatives[0]
  if (results === null) return null
  return best === undefined || !results.is_final || best.transcript === ""
    ? other
    : { type: "phrase", phrase: phraseOf(results, best) }
}

/** Deepgram's live transcription, `/v1/listen`. Each `is_final` is a phrase. */
export const deepgram = (of: { readonly apiKey: Redacted.Redacted; readonly model: string }): RecognizerDialect => ({
  headers: { authorization: `Token ${Redacted.value(of.apiKey)}` },
  path: ({ language, rate }) =>
    `/v1/listen?${new URLSearchParams({
      model: of.model,
      language,
      encoding: "linear16",
      sample_rate: String(rate),
      channels: "1",
      interim_results: "false",
      endpointing: "300",
      punctuate: "true"
    }).toString()}`,
  hello: () => [],
  keepAlive: JSON.stringify({ type: "KeepAlive" }),
  goodbye: [JSON.stringify({ type: "Finalize" }), JSON.stringify({ type: "CloseStream" })],
  read: (message) => {
    const type = Option.getOrNull(decodeType(message))?.type
    switch (type) {
      case undefined:
        return null
      case "Results":
        return resultsOf(message)
      // It follows the last results.
      case "Metadata":
        return { type: "over" }
      default:
        return other
    }
  }
})
