import { describe, expect, it } from "@effect/vitest"
import * as Transcript from "../../../../src/ports/speech/openai/Transcript.ts"

const utterance = { startMs: 4_000, endMs: 6_000 }
const read = (answer: unknown) => Transcript.read(JSON.stringify(answer), utterance)

describe("A transcript of a server like OpenAI's", () => {
  it("is a phrase whose words stand where the utterance does", () => {
    const words = [
      { word: "hello", start: 0.5, end: 0.9 },
      { word: "there", start: 1, end: 1.25 }
    ]
    expect(read({ text: "Hello there.", words, segments: [{ avg_logprob: -0.25, no_speech_prob: 0.01 }] })).toEqual({
      text: "Hello there.",
      confidence: Math.exp(-0.25),
      startMs: 4_500,
      endMs: 5_250,
      words: [
        { word: "hello", startMs: 4_500, endMs: 4_900, confidence: null },
        { word: "there", startMs: 5_000, endMs: 5_250, confidence: null }
      ]
    })
  })

  it.each([
    ["text alone", { text: "Hello." }],
    ["null in place of lists", { text: "Hello.", words: null, segments: null }],
    ["fields that nobody knows", { text: "Hello.", task: "transcribe", usage: { type: "tokens" } }]
  ])("may be %s, and spans the utterance then", (_, answer) =>
    expect(read(answer)).toEqual({ text: "Hello.", confidence: null, ...utterance, words: [] })
  )

  it("says nothing where the server made words of what it takes for no speech", () => {
    const segment = { avg_logprob: -1.2, no_speech_prob: 0.9 }
    expect(read({ text: "Thanks for watching!", segments: [segment] })?.text).toBe("")
    // One segment of speech is enough, and so is one of the two signs.
    expect(read({ text: "Yes.", segments: [segment, { avg_logprob: -0.1, no_speech_prob: 0 }] })?.text).toBe("Yes.")
    expect(read({ text: "Yes.", segments: [{ ...segment, avg_logprob: -0.5 }] })?.text).toBe("Yes.")
  })

  it.each(["", "<html>", "[]", "null", '{"error":{"message":"no"}}', '{"text":3}', '{"text":"a","words":[{}]}'])(
    "is none: %j",
    (body) => expect(Transcript.read(body, utterance)).toBeNull()
  )
})
