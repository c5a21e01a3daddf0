import { Effect } from "effect"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import { type Engine, SpeechFailed } from "../../../src/ports/speech/Engine.ts"
import { Synthesizer } from "../../../src/ports/speech/Synthesizer.ts"

/**
 * An engine that makes 20 ms of 440 Hz of each character, four in a piece, and the next piece 10 ms later, on the clock
 * of its fibers. A text that begins with `hang` is never begun, and one with `fail` fails.
 */
export const make = (options: Partial<Engine> = {}) => {
  const spoken: Array<string> = []
  let stopped = 0
  const engine: Engine = {
    name: "fake",
    voices: [
      { name: "anna", language: "en-US", gender: "female" },
      { name: "otto", language: "de-DE", gender: "male" },
      { name: "olga", language: "de-DE", gender: "female" }
    ],
    takesSsml: false,
    places: 4,
    ahead: 0,
    speak: ({ text }, give) =>
      Effect.gen(function* () {
        spoken.push(text)
        if (text.startsWith("hang")) return yield* Effect.never
        if (text.startsWith("fail")) return yield* new SpeechFailed({ reason: "speech_failed" })
        for (let at = 0; at < text.length; at += 4) {
          yield* Effect.sleep(10)
          give({ rate: 8000, samples: Tone.sine(440, -12, 20 * Math.min(4, text.length - at), 8000) })
        }
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => void stopped++))),
    ...options
  }
  return { engine, spoken, stopped: () => stopped, layer: Synthesizer.layerOf([engine]) }
}

export const layer = make().layer
