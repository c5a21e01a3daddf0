import { Clock, Deferred, Effect } from "effect"
import * as Wav from "../../../protocol/audio/file/Wav.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import type { OperatorClient } from "../../egress/OperatorEgress.ts"
import type { Closed, Link, Open, Options as LinkOptions } from "../../egress/WebSocketClient.ts"
import { type Engine, type Give, RecognitionFailed, type Sound } from "../Recognition.ts"
import type { RecognizerDialect } from "./RecognizerDialect.ts"
import * as Unsure from "./Unsure.ts"

/** Bounds of a connection. */
const limits = {
  connectMs: 5_000,
  /** An answer has few words. */
  maxMessageBytes: 256 * 1024,
  /** A server may send this much at once, and then `bytesPerSecond`. */
  bytesAhead: 1024 * 1024,
  bytesPerSecond: 64 * 1024,
  /** The most bytes that wait to be sent: four seconds of 16 kHz. Then the sound waits, until the session ends. */
  maxBufferedBytes: 128 * 1024,
  /** The most unreadable messages in one connection. */
  garbage: 10,
  keepAliveMs: 4_000,
  /** The waits before a lost connection is replaced. A connection that is lost more often in a row ends the session. */
  againMs: [250, 1_000, 3_000],
  /** A connection that lasted this long was a good one. */
  goodMs: 10_000
}

const linkOptions = ({ headers }: RecognizerDialect): LinkOptions => ({
  headers,
  protocols: [],
  holder: "engine",
  handshakeMs: limits.connectMs,
  maxMessageBytes: limits.maxMessageBytes,
  maxBufferedBytes: limits.maxBufferedBytes,
  pingMs: 5_000,
  silenceMs: 15_000
})

const failed = (reason: RecognitionFailed["reason"]) => Effect.fail(new RecognitionFailed({ reason }))

/**
 * Recognition by a server over a WebSocket, one connection for each track.
 *
 * A lost connection is replaced, up to three times in a row. Sound that it was sent and that became no phrase is sent
 * again, so that no speech is lost; sound that arrives meanwhile waits.
 */
export const make = (of: {
  readonly name: string
  readonly client: OperatorClient
  readonly open: Open
  readonly dialect: RecognizerDialect
  readonly places: number
}): Engine => {
  const { client, dialect, open } = of

  /** Uses one connection until the server has sent everything (true) or the connection is lost (false). */
  const converse = Effect.fnUntraced(function* (sound: Sound, unsure: Unsure.Unsure, give: Give) {
    const pinned = yield* Effect.orElseSucceed(client.pin(dialect.path(sound), limits.connectMs), () => null)
    if (pinned === null) return false
    const clock = yield* Clock.Clock
    const opened = yield* Deferred.make<boolean>()
    const over = yield* Deferred.make<boolean, RecognitionFailed>()
    const offsetMs = unsure.startMs()
    const beganAt = Monotonic.read(clock)
    let bytes = 0
    let garbage = 0
    let sentMs = 0
    let isLeaving = false

    const fail = (reason: RecognitionFailed["reason"]): void => void Deferred.doneUnsafe(over, failed(reason))

    const onMessage = (message: string | Uint8Array): void => {
      bytes += message.length
      if (bytes > limits.bytesAhead + (limits.bytesPerSecond * (Monotonic.read(clock) - beganAt)) / 1000)
        return fail("flooded")
      const heard = typeof message === "string" ? dialect.read(message, sentMs) : null
      if (heard === null) {
        if (++garbage > limits.garbage) fail("failed")
        return
      }
      if (heard.type === "over") {
        if (isLeaving) Deferred.doneUnsafe(over, Effect.succeed(true))
        return
      }
      if (heard.type === "other") return
      const { phrase } = heard
      unsure.sure(phrase.endMs + offsetMs)
      give({
        ...phrase,
        startMs: phrase.startMs + offsetMs,
        endMs: phrase.endMs + offsetMs,
        words: phrase.words.map((word) => ({
          ...word,
          startMs: word.startMs + offsetMs,
          endMs: word.endMs + offsetMs
        }))
      })
    }

    const onClose = ({ reason }: Closed): void => {
      Deferred.doneUnsafe(opened, Effect.succeed(false))
      // The server has sent everything when it closes the connection after our goodbye, however it does that.
      Deferred.doneUnsafe(over, Effect.succeed(isLeaving && reason === "closed"))
    }

    /** Waits until the network takes the message. */
    const send = (link: Link, message: string | Uint8Array): Effect.Effect<void> =>
      Effect.suspend(() => (link.send(message) ? Effect.void : Effect.andThen(Effect.sleep(50), send(link, message))))

    const sendSound = (link: Link, samples: Int16Array) =>
      Effect.suspend(() => {
        sentMs += (samples.length * 1000) / sound.rate
        return send(link, Wav.data(samples))
      })

    /** Sound is unsure as soon as it is taken, so that an interruption does not lose it. */
    const taken = Effect.map(sound.take, (samples) => {
      unsure.add(samples)
      return { samples }
    })

    const speak = Effect.fnUntraced(function* (link: Link) {
      if (!(yield* Deferred.await(opened))) return yield* Effect.never
      for (const message of dialect.hello(sound)) yield* send(link, message)
      for (const samples of unsure.sound()) yield* sendSound(link, samples)
      while (!unsure.isEnded()) {
        const next = yield* Effect.timeoutOrElse(taken, {
          duration: limits.keepAliveMs,
          orElse: () => Effect.succeed(null)
        })
        if (next === null) {
          if (dialect.keepAlive !== null) yield* send(link, dialect.keepAlive)
        } else if (next.samples !== null && next.samples.length > 0) yield* sendSound(link, next.samples)
      }
      isLeaving = true
      for (const message of dialect.goodbye) yield* send(link, message)
      return yield* Effect.never
    })

    return yield* Effect.acquireUseRelease(
      Effect.sync(() =>
        open(pinned, linkOptions(dialect), {
          onOpen: () => void Deferred.doneUnsafe(opened, Effect.succeed(true)),
          onMessage,
          onClose
        })
      ),
      (link) => Effect.raceFirst(Deferred.await(over), speak(link)),
      (link) => Effect.sync(() => link.close())
    )
  })

  return {
    name: of.name,
    mostRate: 16_000,
    places: of.places,
    speaks: () => true,
    recognize: Effect.fnUntraced(function* (sound, give) {
      const unsure = Unsure.make(sound.rate)
      for (let lost = 0; ;) {
        const began = yield* Monotonic.now
        if (yield* converse(sound, unsure, give)) return
        if ((yield* Monotonic.now) - began >= limits.goodMs) lost = 0
        const waitMs = limits.againMs[lost++]
        if (waitMs === undefined) return yield* failed("unavailable")
        yield* Effect.sleep(waitMs)
      }
    })
  }
}
