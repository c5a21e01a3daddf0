import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Engine } from "../../../src/ports/speech/Engine.ts"
import { Synthesizer } from "../../../src/ports/speech/Synthesizer.ts"
import * as FakeSpeech from "../../support/fake/FakeSpeech.ts"
import * as Ids from "../../support/Ids.ts"

const second = (rate = 8000) => ({ rate, samples: new Int16Array(8000).fill(1000) })

/** The outcome of a text with this engine, and the seconds of sound that it gave. */
const outcome = (speak: Engine["speak"], after = 60_000) => {
  const fake = FakeSpeech.make({ speak })
  let heard = 0
  return Effect.gen(function* () {
    const { parts } = yield* (yield* Synthesizer).open(Ids.tenant("t"), {
      text: "Hello.",
      textType: "text",
      voice: "fake.anna",
      language: null
    })
    const [part] = parts
    if (part === undefined) throw new Error("a text has a part")
    const fiber = yield* Effect.forkChild(
      Effect.match(
        part(({ rate, samples }) => void (heard += samples.length / rate)),
        { onSuccess: () => "spoken", onFailure: ({ reason }) => reason }
      )
    )
    yield* TestClock.adjust(after)
    const told = yield* Fiber.join(fiber)
    return [told, Math.round(heard)]
  }).pipe(Effect.provide(fake.layer))
}

describe("an engine", () => {
  it.effect("that speaks is heard", () =>
    Effect.gen(function* () {
      expect(yield* outcome((_, give) => Effect.sync(() => give(second())))).toStrictEqual(["spoken", 1])
    })
  )

  it.effect("that hangs has failed after five seconds, and after two where it has begun", () =>
    Effect.gen(function* () {
      expect(yield* outcome(() => Effect.never, 5_000)).toStrictEqual(["speech_timeout", 0])
      const breaks: Engine["speak"] = (_, give) =>
        Effect.gen(function* () {
          yield* Effect.sleep(4_000)
          give(second())
          yield* Effect.sleep(1_900)
          give(second())
          yield* Effect.never
        })
      expect(yield* outcome(breaks, 7_900)).toStrictEqual(["speech_timeout", 2])
    })
  )

  it.effect("that floods is stopped", () =>
    Effect.gen(function* () {
      const floods: Engine["speak"] = (_, give) =>
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => give(second())),
            Effect.sleep(1)
          )
        )
      expect(yield* outcome(floods)).toStrictEqual(["too_large", 600])
    })
  )

  it.effect("that gives what is no sound, or dies of a fault, has failed", () =>
    Effect.gen(function* () {
      for (const rate of [0, -8000, Number.NaN, 1_000_000])
        expect(
          yield* outcome((_, give) =>
            Effect.andThen(
              Effect.sync(() => give(second(rate))),
              Effect.never
            )
          )
        ).toStrictEqual(["speech_failed", 0])
      expect(yield* outcome(() => Effect.die(new Error("a fault")))).toStrictEqual(["speech_failed", 0])
    })
  )

  it.effect("gives nothing after its end", () =>
    Effect.gen(function* () {
      let late: () => void = () => undefined
      const speaks: Engine["speak"] = (_, give) =>
        Effect.sync(() => {
          late = () => give(second())
          give(second())
        })
      const fake = FakeSpeech.make({ speak: speaks })
      let heard = 0
      yield* Effect.gen(function* () {
        const speech = { text: "Hello.", textType: "text", voice: "male", language: null } as const
        const { parts } = yield* (yield* Synthesizer).open(Ids.tenant("t"), speech)
        for (const part of parts) yield* part(() => void heard++)
        late()
      }).pipe(Effect.provide(fake.layer))
      expect(heard).toBe(1)
    })
  )

  it.effect("has a place left for others when one tenant wants all", () =>
    Effect.gen(function* () {
      const running: Array<string> = []
      const fake = FakeSpeech.make({
        places: 3,
        speak: ({ text }) =>
          Effect.andThen(
            Effect.sync(() => void running.push(text)),
            Effect.sleep(1_000)
          )
      })
      yield* Effect.gen(function* () {
        const synthesizer = yield* Synthesizer
        const say = (tenant: string, text: string) =>
          Effect.gen(function* () {
            const { parts } = yield* synthesizer.open(Ids.tenant(tenant), {
              text,
              textType: "text",
              voice: "fake.anna",
              language: null
            })
            for (const part of parts) yield* Effect.ignore(part(() => undefined))
          })
        for (let n = 0; n < 20; n++) yield* Effect.forkChild(say("greedy", `greedy ${n}`))
        yield* TestClock.adjust(1)
        yield* Effect.forkChild(say("other", "other"))
        yield* TestClock.adjust(1)
        expect(running).toStrictEqual(["greedy 0", "greedy 1", "other"])
      }).pipe(Effect.provide(fake.layer))
    })
  )
})
