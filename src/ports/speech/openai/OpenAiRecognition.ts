import { Effect, Queue, Redacted } from "effect"
import * as Voice from "../../../protocol/audio/detect/Voice.ts"
import * as Wav from "../../../protocol/audio/file/Wav.ts"
import type { OperatorClient } from "../../egress/OperatorEgress.ts"
import { type Engine, RecognitionFailed } from "../Recognition.ts"
import * as Utterances from "../Utterances.ts"
import * as Transcript from "./Transcript.ts"

export const limits = {
  timeoutMs: 20_000,
  maxResponseBytes: 1024 * 1024,
  /** The waits before an utterance that the server did not take is sent again. */
  againMs: [500, 2_000],
  /** The most utterances that wait for earlier ones. */
  waiting: 8
}

/** A sound has these octets in a row only with a probability of 2^-300. */
const boundary = "trunkline-5cf0f64bd0b84ae7a6b0f4a8b0b3a0c1"

/** Encodes fields and one file by RFC 7578. */
const form = (fields: ReadonlyArray<readonly [string, string]>, file: Uint8Array): Uint8Array => {
  const encoder = new TextEncoder()
  const parts = [
    ...fields.map(([name, value]) =>
      encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    ),
    encoder.encode(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="speech.wav"\r\n` +
        "Content-Type: audio/wav\r\n\r\n"
    ),
    file,
    encoder.encode(`\r\n--${boundary}--\r\n`)
  ]
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  parts.reduce((at, part) => {
    whole.set(part, at)
    return at + part.length
  }, 0)
  return whole
}

/** The server's newer models answer `json` only. */
const fieldsOf = (model: string, language: string): ReadonlyArray<readonly [string, string]> => [
  ["model", model],
  // Such servers know only the two letters of ISO 639-1.
  ["language", language.split("-")[0]?.toLowerCase() ?? language],
  ...(model.startsWith("gpt-4o")
    ? [["response_format", "json"] as const]
    : ([
        ["response_format", "verbose_json"],
        ["timestamp_granularities[]", "word"],
        ["timestamp_granularities[]", "segment"]
      ] as const))
]

const failed = (reason: RecognitionFailed["reason"]) => new RecognitionFailed({ reason })

/**
 * Recognition by a server with OpenAI's API, `POST <base>/audio/transcriptions`. Voice activity cuts the sound into
 * utterances, which are sent one after the other. An utterance that the server does not take is sent up to three times.
 */
export const make = (of: {
  readonly client: OperatorClient
  readonly apiKey: Redacted.Redacted | null
  readonly model: string
  readonly places: number
}): Engine => {
  const headers = {
    "content-type": `multipart/form-data; boundary=${boundary}`,
    ...(of.apiKey === null ? {} : { authorization: `Bearer ${Redacted.value(of.apiKey)}` })
  }

  const ask = (body: Uint8Array) =>
    Effect.gen(function* () {
      for (let attempt = 0; ; attempt++) {
        const answer = yield* Effect.result(
          of.client.request({
            path: "/audio/transcriptions",
            method: "POST",
            headers,
            body,
            timeoutMs: limits.timeoutMs,
            maxResponseBytes: limits.maxResponseBytes
          })
        )
        const status = answer._tag === "Success" ? answer.success.status : 0
        if (answer._tag === "Success" && status === 200) return new TextDecoder().decode(answer.success.body)
        const waitMs = limits.againMs[attempt]
        // The server would refuse the same request again.
        if (waitMs === undefined || (status >= 300 && status < 500 && status !== 429))
          return yield* failed(status === 0 || status >= 500 || status === 429 ? "unavailable" : "failed")
        yield* Effect.sleep(waitMs)
      }
    })

  return {
    name: "openai",
    mostRate: 16_000,
    places: of.places,
    speaks: () => true,
    recognize: ({ language, rate, take }, give) =>
      Effect.gen(function* () {
        const voice = Voice.make({ hangoverMs: Utterances.tailMs })
        const utterances = Utterances.make(rate, voice.hear)
        const waiting = yield* Queue.unbounded<Utterances.Utterance | null>()
        const fields = fieldsOf(of.model, language)

        const transcribe = Effect.gen(function* () {
          for (let next = yield* Queue.take(waiting); next !== null; next = yield* Queue.take(waiting)) {
            const { samples, startMs } = next
            const answer = yield* ask(form(fields, Wav.write({ sampleRate: rate, samples })))
            const phrase = Transcript.read(answer, { startMs, endMs: startMs + (samples.length * 1000) / rate })
            if (phrase === null) return yield* failed("failed")
            give(phrase)
          }
        })
        const cut = Effect.gen(function* () {
          for (let samples = yield* take; samples !== null; samples = yield* take) {
            for (const utterance of utterances.hear(samples)) Queue.offerUnsafe(waiting, utterance)
            if (Queue.sizeUnsafe(waiting) > limits.waiting) return yield* failed("slow")
          }
          const last = utterances.end()
          if (last !== null) Queue.offerUnsafe(waiting, last)
          Queue.offerUnsafe(waiting, null)
        })
        yield* Effect.all([transcribe, cut], { concurrency: "unbounded", discard: true })
      })
  }
}
