import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Redacted } from "effect"
import * as NodeOperatorEgress from "../../../src/ports/egress/node/NodeOperatorEgress.ts"
import * as ReadTurns from "../../../src/ports/egress/node/ReadTurns.ts"
import * as WsClient from "../../../src/ports/egress/node/WsClient.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import type { Phrase } from "../../../src/ports/speech/Recognition.ts"
import * as RecognitionWatch from "../../../src/ports/speech/RecognitionWatch.ts"
import * as Deepgram from "../../../src/ports/speech/socket/Deepgram.ts"
import type { RecognizerDialect } from "../../../src/ports/speech/socket/RecognizerDialect.ts"
import * as SocketEngine from "../../../src/ports/speech/socket/SocketEngine.ts"
import * as Vosk from "../../../src/ports/speech/socket/Vosk.ts"
import * as Bursts from "./Bursts.ts"
import * as SocketServer from "./SocketServer.ts"

const deepgram = Deepgram.deepgram({ apiKey: Redacted.make("secret"), model: "nova-3" })

/** A session with a server, whose sound comes in pieces of 100 ms. */
const session = Effect.fnUntraced(function* (
  behave: SocketServer.Behavior,
  dialect: RecognizerDialect,
  rate: SampleRate = 8000
) {
  const server = yield* SocketServer.start(behave)
  const engine = SocketEngine.make({
    name: "test",
    client: server.client,
    open: WsClient.make(ReadTurns.make()),
    dialect,
    places: 4
  })
  const queue = yield* Queue.unbounded<Int16Array | null>()
  const phrases: Array<Phrase> = []
  const sound = { rate, language: "en-US", take: Queue.take(queue) }
  const fiber = yield* Effect.forkScoped(
    Effect.result(RecognitionWatch.recognize(engine, sound, (phrase) => void phrases.push(phrase)))
  )
  const say = (samples: Int16Array) => {
    for (let at = 0; at < samples.length; at += rate / 10) Queue.offerUnsafe(queue, samples.slice(at, at + rate / 10))
  }
  const outcome = Effect.map(Fiber.join(fiber), (result) =>
    result._tag === "Success" ? "completed" : result.failure.reason
  )
  return {
    ...server,
    phrases,
    say,
    end: Effect.suspend(() => {
      Queue.offerUnsafe(queue, null)
      return outcome
    }),
    outcome
  }
})

const until = (what: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (what() ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(what))))

const run = <A, E>(
  effect: Effect.Effect<
    A,
    E,
    import("effect").Scope.Scope | import("../../../src/ports/egress/OperatorEgress.ts").OperatorEgress
  >
) => Effect.provide(Effect.scoped(effect), NodeOperatorEgress.layer())

const rounded = (phrases: ReadonlyArray<Phrase>) =>
  phrases.map(({ endMs, startMs, text }) => [text, Math.round(startMs / 10) * 10, Math.round(endMs / 10) * 10])

describe.concurrent.each([
  ["Vosk", SocketServer.vosk, Vosk.vosk],
  ["Deepgram", SocketServer.deepgram, deepgram]
] as const)("Recognition over a WebSocket, %s", (name, honest, dialect) => {
  it.live("gives each phrase with its words and times, at 8 and at 16 kHz", () =>
    run(
      Effect.gen(function* () {
        for (const rate of [8000, 16_000] as const) {
          const { end, phrases, say } = yield* session(honest, dialect, rate)
          say(Bursts.sound(rate, 300, 200, 0))
          yield* until(() => phrases.length === 2)
          expect(yield* end).toBe("completed")
          expect(rounded(phrases)).toEqual([
            ["beep1", 400, 700],
            ["beep2", 1100, 1300]
          ])
          expect(phrases[0]?.confidence).toBe(name === "Vosk" ? 0.9 : 0.98)
          expect(phrases[0]?.words).toMatchObject([{ word: name === "Vosk" ? "beep1" : "beep1.", confidence: 0.9 }])
        }
      })
    )
  )

  it.live("gives the last words when the sound is over", () =>
    run(
      Effect.gen(function* () {
        const { end, phrases, say } = yield* session(honest, dialect)
        say(Bursts.sound(8000, 300))
        expect(yield* end).toBe("completed")
        expect(rounded(phrases)).toEqual([["beep1", 400, 700]])
      })
    )
  )

  it.live("replaces a lost connection and sends again what made no phrase yet, so that nothing is lost", () =>
    run(
      Effect.gen(function* () {
        const lost: SocketServer.Behavior = (socket, asked, count) => {
          honest(socket, asked, count)
          // The connection ends in the middle of the second burst.
          if (count === 1) socket.on("message", () => void (asked.seconds() > 1.15 && socket.terminate()))
        }
        const { connections, end, phrases, say } = yield* session(lost, dialect)
        say(Bursts.sound(8000, 300, 300, 200, 0))
        yield* until(() => phrases.length === 3)

        expect(yield* end).toBe("completed")
        expect(connections.length).toBe(2)
        // The second server begins to count anew, and its first piece of sound may begin in a burst.
        expect(phrases.map(({ startMs }) => Math.round(startMs / 100))).toEqual([4, 11, 18])
        expect(Math.round((phrases[1]?.endMs ?? 0) / 100)).toBe(14)
      })
    )
  )

  it.live.each<readonly [string, SocketServer.Behavior, string]>([
    ["goes away again and again", (socket) => socket.terminate(), "unavailable"],
    [
      "says what is no message",
      (socket) => {
        for (let i = 0; i < 30; i++) socket.send("<html>")
      },
      "failed"
    ],
    [
      "says what is no text",
      (socket) => {
        for (let i = 0; i < 30; i++) socket.send(Buffer.alloc(10))
      },
      "failed"
    ],
    [
      "floods",
      (socket) => {
        const message = JSON.stringify({ type: "UtteranceEnd", partial: "x".repeat(100_000) })
        for (let i = 0; i < 30; i++) socket.send(message)
      },
      "flooded"
    ],
    ["sends a frame of megabytes", (socket) => socket.send("x".repeat(3_000_000)), "unavailable"],
    [
      "says more than anybody can",
      (socket) => {
        const result = { text: "many words ".repeat(30) }
        const channel = { alternatives: [{ transcript: "many words ".repeat(30) }] }
        const all = JSON.stringify({ ...result, type: "Results", is_final: true, start: 0, duration: 0, channel })
        for (let i = 0; i < 200; i++) socket.send(all)
      },
      "flooded"
    ]
  ])(
    "fails when a server %s",
    ([, hostile, reason]) =>
      run(
        Effect.gen(function* () {
          const { outcome, say } = yield* session(hostile, dialect)
          say(Bursts.sound(8000, 300))
          expect(yield* outcome).toBe(reason)
        })
      ),
    15_000
  )
})

describe.concurrent("What is said to a server", () => {
  it.live("is the configuration, the sound as it is, and the very characters that end it, to Vosk", () =>
    run(
      Effect.gen(function* () {
        const { connections, end, say } = yield* session(SocketServer.vosk, Vosk.vosk)
        say(Bursts.sound(8000, 300))
        yield* end
        expect(connections[0]?.texts).toEqual([
          '{"config":{"sample_rate":8000,"words":true,"max_alternatives":0}}',
          '{"eof" : 1}'
        ])
        expect(connections[0]?.seconds()).toBe(0.7)
      })
    )
  )

  it.live("is a token, the parameters of the sound, Finalize and CloseStream, to Deepgram", () =>
    run(
      Effect.gen(function* () {
        const { connections, end, say } = yield* session(SocketServer.deepgram, deepgram, 16_000)
        say(Bursts.sound(16_000, 300))
        yield* end
        const { searchParams } = new URL(connections[0]?.url ?? "", "ws://x")
        expect(connections[0]?.authorization).toBe("Token secret")
        expect(Object.fromEntries(searchParams)).toMatchObject({
          model: "nova-3",
          language: "en-US",
          encoding: "linear16",
          sample_rate: "16000",
          channels: "1"
        })
        expect(connections[0]?.texts).toEqual(['{"type":"Finalize"}', '{"type":"CloseStream"}'])
      })
    )
  )

  it.live(
    "is KeepAlive while there is no sound",
    () =>
      run(
        Effect.gen(function* () {
          const { connections, end } = yield* session(SocketServer.deepgram, deepgram)
          yield* until(() => (connections[0]?.texts.length ?? 0) > 0)
          expect(connections[0]?.texts).toEqual(['{"type":"KeepAlive"}'])
          yield* end
        })
      ),
    15_000
  )
})
