import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"
import { EgressError } from "../../../../src/ports/egress/Egress.ts"
import type { OperatorClient } from "../../../../src/ports/egress/OperatorEgress.ts"
import * as OpenAiRecognition from "../../../../src/ports/speech/openai/OpenAiRecognition.ts"
import type { Phrase } from "../../../../src/ports/speech/Recognition.ts"
import * as RecognitionWatch from "../../../../src/ports/speech/RecognitionWatch.ts"
import * as Sounds from "../../../protocol/audio/detect/Sounds.ts"

type Request = Parameters<OperatorClient["request"]>[0]
type Answer = { readonly status: number; readonly body: string } | EgressError["reason"] | "silence"

interface Heard {
  readonly request: Request
  readonly form: FormData
  readonly seconds: number
}

const ok: Answer = {
  status: 200,
  body: JSON.stringify({ text: "Hello.", words: [{ word: "Hello", start: 0.4, end: 1 }] })
}

/** A session whose server gives these answers, and repeats the last. */
const session = Effect.fnUntraced(function* (
  { model = "whisper-1" as string, language = "en-GB" },
  ...answers: ReadonlyArray<Answer>
) {
  const heard: Array<Heard> = []
  const request: OperatorClient["request"] = (asked) =>
    Effect.gen(function* () {
      const { body, headers } = asked
      if (!(body instanceof Uint8Array)) return yield* Effect.die("a form has octets")
      const form = yield* Effect.promise(() => new Response(body.slice(), { headers: { ...headers } }).formData())
      const file = form.get("file")
      if (!(file instanceof File)) return yield* Effect.die("a form has a file")
      const bytes = new Uint8Array(yield* Effect.promise(() => file.arrayBuffer()))
      const sound = yield* Effect.orDie(Effect.fromResult(Wav.read(bytes)))
      heard.push({ request: asked, form, seconds: sound.samples.length / sound.sampleRate })
      const answer = answers[Math.min(heard.length, answers.length) - 1] ?? "silence"
      if (answer === "silence") return yield* Effect.never
      return typeof answer === "string"
        ? yield* new EgressError({ reason: answer, detail: answer })
        : { status: answer.status, headers: {}, body: new TextEncoder().encode(answer.body) }
    })
  const engine = OpenAiRecognition.make({
    client: { request, stream: () => Effect.die("not asked"), pin: () => Effect.die("not asked") },
    apiKey: Redacted.make("sk-test"),
    model,
    places: 2
  })
  const queue = yield* Queue.unbounded<Int16Array | null>()
  const phrases: Array<Phrase> = []
  const fiber = yield* Effect.forkScoped(
    Effect.result(
      RecognitionWatch.recognize(engine, { rate: 8000, language, take: Queue.take(queue) }, (phrase) =>
        phrases.push(phrase)
      )
    )
  )
  return {
    heard,
    phrases,
    say: (...parts: ReadonlyArray<Int16Array>) => {
      const sound = Sounds.join(...parts)
      for (let at = 0; at < sound.length; at += 800) Queue.offerUnsafe(queue, sound.slice(at, at + 800))
    },
    end: () => Queue.offerUnsafe(queue, null),
    outcome: Effect.map(Fiber.join(fiber), (result) =>
      result._tag === "Success" ? "completed" : result.failure.reason
    )
  }
})

/** Lets the promises that read the form settle, which no clock controls. */
const settled = (what: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    what()
      ? Effect.void
      : Effect.andThen(
          Effect.promise(() => new Promise(setImmediate)),
          settled(what)
        )
  )

const sentence = Sounds.voice(1_500)
const pause = Sounds.silence(1_500)

describe("Recognition by a server like OpenAI's", () => {
  it.effect("asks for each utterance, as soon as its speaker pauses, and gives it in its place", () =>
    Effect.gen(function* () {
      const { end, heard, outcome, phrases, say } = yield* session({}, ok)
      say(pause, sentence, pause, sentence, pause)
      yield* settled(() => phrases.length === 2)
      end()

      expect(yield* outcome).toBe("completed")
      expect(heard.map(({ seconds }) => seconds > 1.4 && seconds < 2.8)).toEqual([true, true])
      const [first, second] = phrases
      // The last 400 ms of 1.5 s of silence belong to the utterance, and 400 ms to the word in it.
      expect(Math.abs((first?.startMs ?? 0) - 1_500)).toBeLessThan(150)
      expect(Math.abs((second?.startMs ?? 0) - 4_500)).toBeLessThan(150)
      expect(heard[0]?.request).toMatchObject({
        path: "/audio/transcriptions",
        method: "POST",
        headers: { authorization: "Bearer sk-test" }
      })
      expect([...(heard[0]?.form.entries() ?? [])].filter(([, value]) => typeof value === "string")).toEqual([
        ["model", "whisper-1"],
        ["language", "en"],
        ["response_format", "verbose_json"],
        ["timestamp_granularities[]", "word"],
        ["timestamp_granularities[]", "segment"]
      ])
    })
  )

  it.effect("asks models that know no words' times for text alone", () =>
    Effect.gen(function* () {
      const { end, heard, outcome, say } = yield* session({ model: "gpt-4o-transcribe", language: "de" }, ok)
      say(sentence)
      end()
      expect(yield* outcome).toBe("completed")
      expect(heard.map(({ form }) => [form.get("language"), form.getAll("response_format")])).toEqual([
        ["de", ["json"]]
      ])
    })
  )

  it.effect("gives what is being said when the sound ends", () =>
    Effect.gen(function* () {
      const { end, outcome, phrases, say } = yield* session({}, ok)
      say(sentence)
      end()
      expect(yield* outcome).toBe("completed")
      expect(phrases.map(({ text }) => text)).toEqual(["Hello."])
    })
  )

  it.effect.each<readonly [string, Answer]>([
    ["503", { status: 503, body: "" }],
    ["429", { status: 429, body: "" }],
    ["a reset connection", "reset"]
  ])("sends an utterance again after %s, and loses nothing", ([, fault]) =>
    Effect.gen(function* () {
      const { end, heard, outcome, phrases, say } = yield* session({}, fault, fault, ok)
      say(sentence, pause)
      yield* settled(() => heard.length === 1)
      yield* TestClock.adjust(500)
      yield* settled(() => heard.length === 2)
      yield* TestClock.adjust(2_000)
      yield* settled(() => phrases.length === 1)
      end()
      expect(yield* outcome).toBe("completed")
      expect(heard.map(({ seconds }) => seconds)).toEqual(Array.from({ length: 3 }, () => heard[0]?.seconds))
    })
  )

  it.effect("gives up a server that is away after three tries", () =>
    Effect.gen(function* () {
      const { heard, outcome, say } = yield* session({}, "connect")
      say(sentence, pause)
      yield* settled(() => heard.length === 1)
      yield* TestClock.adjust(500)
      yield* settled(() => heard.length === 2)
      yield* TestClock.adjust(2_000)
      expect(yield* outcome).toBe("unavailable")
      expect(heard.length).toBe(3)
    })
  )

  it.effect.each<readonly [string, Answer]>([
    ["refuses the request", { status: 401, body: '{"error":{"message":"Incorrect API key"}}' }],
    ["redirects it", { status: 307, body: "" }],
    ["answers what is no transcript", { status: 200, body: "<html>" }]
  ])("fails at once where the server %s", ([, answer]) =>
    Effect.gen(function* () {
      const { heard, outcome, say } = yield* session({}, answer)
      say(sentence, pause)
      expect(yield* outcome).toBe("failed")
      expect(heard.length).toBe(1)
    })
  )

  it.effect("fails where the server takes less than is said, and keeps no more than a bound of it", () =>
    Effect.gen(function* () {
      const { outcome, say } = yield* session({}, "silence")
      for (let i = 0; i < OpenAiRecognition.limits.waiting + 3; i++) say(sentence, pause)
      expect(yield* outcome).toBe("slow")
    })
  )
})
