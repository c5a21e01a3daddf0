import { Effect, Redacted, Result, Stream } from "effect"
import * as PcmStream from "../../../protocol/audio/file/PcmStream.ts"
import { OperatorEgress } from "../../egress/OperatorEgress.ts"
import type { OperatorTarget } from "../../egress/OperatorTarget.ts"
import { type Engine, SpeechFailed, type Voice } from "../Engine.ts"

/** A server with OpenAI's API for speech: `POST <base>/audio/speech`. */
export interface Server {
  /** For example `https://api.openai.com/v1`. */
  readonly target: OperatorTarget
  readonly apiKey: Redacted.Redacted | null
  readonly model: string
  readonly voices: ReadonlyArray<Voice>
  /** The requested format, with the rate of raw samples. */
  readonly format: PcmStream.Shape
}

const engine = "openai"

/** An utterance of about 15 s stays far below this. */
const mostBytes = 32 * 1024 * 1024
const timeoutMs = 60_000
/** `Watch.ts` gives up a silent utterance before this. */
const idleMs = 10_000

/** Each utterance is a request; two are under way while one is heard. */
export const make = Effect.fnUntraced(function* ({ apiKey, format, model, target, voices }: Server) {
  const client = yield* (yield* OperatorEgress).open(target)
  const failed = new SpeechFailed({ reason: "speech_failed" })
  const headers = {
    "content-type": "application/json",
    ...(apiKey === null ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` })
  }
  const made: Engine = {
    name: engine,
    voices,
    takesSsml: false,
    places: 32,
    ahead: 2,
    speak: ({ text, voice }, give) =>
      Effect.gen(function* () {
        const body = new TextEncoder().encode(
          JSON.stringify({ model, input: text, voice, response_format: format.type })
        )
        const answer = yield* client.stream({
          path: "/audio/speech",
          method: "POST",
          headers,
          body: { stream: Stream.succeed(body), length: body.length },
          timeoutMs,
          idleMs,
          maxResponseBytes: mostBytes
        })
        if (answer.status === 429 || answer.status === 503) return yield* new SpeechFailed({ reason: "overloaded" })
        if (answer.status !== 200 || isText(answer.headers["content-type"])) return yield* failed
        const stream = PcmStream.make(format)
        yield* Stream.runForEach(answer.body, (bytes) => {
          const read = stream.push(bytes)
          if (Result.isFailure(read)) return Effect.fail(failed)
          return Effect.sync(() => give(read.success))
        })
      }).pipe(
        Effect.scoped,
        Effect.catchTag("EgressError", ({ reason }) =>
          Effect.fail(
            new SpeechFailed({
              reason: reason === "timeout" ? "speech_timeout" : reason === "too_large" ? reason : "speech_failed"
            })
          )
        )
      )
  }
  return made
})

/** An error or a page that comes with a 200 is not sound. */
const isText = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^(text\/|application\/(json|xml))/i.test(contentType)
