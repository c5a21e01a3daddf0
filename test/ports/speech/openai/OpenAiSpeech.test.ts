import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Result, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"
import { OperatorTarget } from "../../../../src/ports/egress/OperatorTarget.ts"
import * as NodeOperatorEgress from "../../../../src/ports/egress/node/NodeOperatorEgress.ts"
import * as OpenAiSpeech from "../../../../src/ports/speech/openai/OpenAiSpeech.ts"

interface Asked {
  readonly path: string
  readonly authorization: string | null
  readonly body: unknown
}

/** A server in place of OpenAI's. */
const serve = (answer: (response: ServerResponse, request: IncomingMessage) => void) => {
  const asked: Array<Asked> = []
  let closed = 0
  const server = createServer((request, response) => {
    let text = ""
    response.on("close", () => closed++)
    request.on("data", (bytes: Buffer) => (text += bytes.toString()))
    request.on("end", () => {
      asked.push({
        path: request.url ?? "",
        authorization: request.headers.authorization ?? null,
        body: JSON.parse(text)
      })
      answer(response, request)
    })
  })
  return Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly asked: Array<Asked>; readonly closed: () => number }>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/v1`, asked, closed: () => closed }))
      })
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
}

const engineAt = (url: string, format: OpenAiSpeech.Server["format"] = { type: "pcm", rate: 24_000 }) =>
  OpenAiSpeech.make({
    target: Result.getOrThrow(OperatorTarget.configured(url, { plain: true })),
    apiKey: Redacted.make("sk-test"),
    model: "tts-1",
    voices: [{ name: "alloy", language: null, gender: null }],
    format
  })

const samples = Int16Array.from({ length: 4801 }, (_, i) => i * 6)

/** The sound of an answer: how many samples at which rate, or the failure. */
const heard = (
  answer: (response: ServerResponse) => void,
  format?: OpenAiSpeech.Server["format"]
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { url } = yield* serve(answer)
    const engine = yield* engineAt(url, format)
    const all: Array<number> = []
    let rate = 0
    return yield* Effect.match(
      engine.speak({ text: "Hello.", voice: "alloy", isSsml: false }, (spoken) => {
        all.push(...spoken.samples)
        if (spoken.samples.length > 0) rate = spoken.rate
      }),
      {
        onSuccess: () => (all.every((sample, i) => sample === i * 6) ? `${all.length} at ${rate}` : "garbled"),
        onFailure: ({ reason }) => reason
      }
    )
  }).pipe(Effect.provide(NodeOperatorEgress.layer()))

describe("a server like OpenAI's", () => {
  it.live("is asked as its interface says", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* serve((response) => response.end(Wav.data(samples)))
      const engine = yield* engineAt(url)
      yield* engine.speak({ text: "Grüß Gott “friend”", voice: "alloy", isSsml: false }, () => undefined)
      expect(asked).toStrictEqual([
        {
          path: "/v1/audio/speech",
          authorization: "Bearer sk-test",
          body: { model: "tts-1", input: "Grüß Gott “friend”", voice: "alloy", response_format: "pcm" }
        }
      ])
    }).pipe(Effect.scoped, Effect.provide(NodeOperatorEgress.layer()))
  )

  it.live("is heard in odd bytes, as raw samples and as WAVE whose lengths lie", () =>
    Effect.gen(function* () {
      const inOddBytes = (bytes: Uint8Array) => (response: ServerResponse) => {
        for (let at = 0; at < bytes.length; at += 333) response.write(bytes.subarray(at, at + 333))
        response.end()
      }
      expect(yield* heard(inOddBytes(Wav.data(samples)))).toBe("4801 at 24000")
      const wav = Wav.write({ sampleRate: 22_050, samples })
      new DataView(wav.buffer).setUint32(40, 0xffff_ffff, true)
      expect(yield* heard(inOddBytes(wav), { type: "wav" })).toBe("4801 at 22050")
    }).pipe(Effect.scoped)
  )

  it.live("that refuses, breaks off or answers garbage fails its own speech", () =>
    Effect.gen(function* () {
      const status = (code: number) => (response: ServerResponse) => response.writeHead(code).end("{}")
      expect(yield* heard(status(401))).toBe("speech_failed")
      expect(yield* heard(status(500))).toBe("speech_failed")
      expect(yield* heard(status(429))).toBe("overloaded")
      const json = (response: ServerResponse) =>
        response.writeHead(200, { "content-type": "application/json" }).end('{"error":"x"}')
      expect(yield* heard(json)).toBe("speech_failed")
      const breaksOff = (response: ServerResponse) => {
        response.writeHead(200, { "content-length": "100000" })
        response.write(Wav.data(samples))
        setTimeout(() => response.destroy(), 20)
      }
      expect(yield* heard(breaksOff)).toBe("speech_failed")
      expect(yield* heard((response) => response.end("<html>no sound</html>"), { type: "wav" })).toBe("speech_failed")
    }).pipe(Effect.scoped)
  )

  it.live("is left at once when nobody wants to hear it any more", () =>
    Effect.gen(function* () {
      const { closed, url } = yield* serve((response) => void response.write(Wav.data(samples)))
      const engine = yield* engineAt(url)
      const stretches: Array<number> = []
      const fiber = yield* Effect.forkChild(
        engine.speak({ text: "Hello.", voice: "alloy", isSsml: false }, ({ rate }) => void stretches.push(rate))
      )
      for (let n = 0; n < 2_000 && stretches.length === 0; n++) yield* Effect.sleep(10)
      expect(closed()).toBe(0)
      yield* Fiber.interrupt(fiber)
      for (let n = 0; n < 2_000 && closed() === 0; n++) yield* Effect.sleep(10)
      expect(closed()).toBe(1)
    }).pipe(Effect.scoped, Effect.provide(NodeOperatorEgress.layer()))
  )
})
