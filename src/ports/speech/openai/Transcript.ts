import { Option, Schema } from "effect"
import type { Phrase } from "../Recognition.ts"

/** The server's answer in `json` or `verbose_json`. */
const Answer = Schema.fromJsonString(
  Schema.Struct({
    text: Schema.String,
    words: Schema.optionalKey(
      Schema.NullOr(Schema.Array(Schema.Struct({ word: Schema.String, start: Schema.Finite, end: Schema.Finite })))
    ),
    segments: Schema.optionalKey(
      Schema.NullOr(
        Schema.Array(
          Schema.Struct({
            avg_logprob: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
            no_speech_prob: Schema.optionalKey(Schema.NullOr(Schema.Finite))
          })
        )
      )
    )
  })
)
const decode = Schema.decodeUnknownOption(Answer)

/** Whisper's own thresholds for segments without speech that it made words of. */
const noSpeech = 0.6
const unlikely = -1

/** The phrase that the server made of an utterance, timed in the whole sound; null when it is no transcript. */
export const read = (
  body: string,
  { endMs, startMs }: { readonly startMs: number; readonly endMs: number }
): Phrase | null => {
  const answer = Option.getOrNull(decode(body))
  if (answer === null) return null
  const segments = answer.segments ?? []
  const isSpeech =
    segments.length === 0 ||
    segments.some((segment) => (segment.no_speech_prob ?? 0) <= noSpeech || (segment.avg_logprob ?? 0) >= unlikely)
  const likely = segments.flatMap((segment) => (typeof segment.avg_logprob === "number" ? [segment.avg_logprob] : []))
  const words = (answer.words ?? []).map(({ end, start, word }) => ({
    word,
    startMs: startMs + start * 1000,
    endMs: startMs + end * 1000,
    confidence: null
  }))
  return {
    text: isSpeech ? answer.text : "",
    confidence: likely.length === 0 ? null : Math.exp(likely.reduce((sum, each) => sum + each, 0) / likely.length),
    startMs: words[0]?.startMs ?? startMs,
    endMs: words.at(-1)?.endMs ?? endMs,
    words
  }
}
