import { Effect, type Scope } from "effect"
import { type Engine, SpeechFailed } from "../Engine.ts"
import * as EspeakProcess from "./EspeakProcess.ts"
import * as EspeakVoices from "./EspeakVoices.ts"
import * as Ssml from "./Ssml.ts"

/** The number of processes. Even a tenant that wants all of them leaves one for the others. */
const processes = 3

/** The languages that the package knows, as it lists them itself. */
const languages: ReadonlyArray<string> = (
  "af am an ar as az ba be bg bn bpy bs ca ca-ba ca-nw ca-va chr-US-Qaaa-x-west cmn cmn-latn-pinyin cs cv cy " +
  "da de el en-029 en-gb en-gb-scotland en-gb-x-gbclan en-gb-x-gbcwmd en-gb-x-rp en-us en-us-nyc eo es " +
  "es-419 et eu fa fa-latn fi fo fr-be fr-ch fr-fr ga gd gn grc gu hak haw he hi hr ht hu hy hyw ia id io is " +
  "it ja jbo ka kaa kk kl kn ko kok ku ky la lb lfn lt ltg lv mi mk ml mr ms mt mto my nb nci ne nl nog om " +
  "or pa pap piqd pl pt pt-br py qdb qu quc qya ro ru ru-cl ru-lv sd shn si sjn sk sl smj sq sr sv sw ta te " +
  "th ti tk tn tr tt ug uk ur uz vi vi-vn-x-central vi-vn-x-south xex yue"
).split(" ")

const program = new URL("./EspeakProgram.ts", import.meta.url)

/** espeak-ng from its npm package, which needs nothing installed on the machine. Its processes end with the scope. */
export const make = (of: { readonly program: URL } = { program }): Effect.Effect<Engine, never, Scope.Scope> =>
  Effect.gen(function* () {
    const log = Effect.runForkWith(yield* Effect.context())
    const pool = Array.from({ length: processes }, (_, index) =>
      EspeakProcess.make({
        program: of.program,
        isEager: index === 0,
        onDied: () => void log(Effect.logWarning("a speech process was replaced"))
      })
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => pool.forEach(({ close }) => close())))
    return {
      name: EspeakVoices.engine,
      voices: EspeakVoices.of(languages),
      takesSsml: true,
      places: processes,
      ahead: 0,
      speak: (utterance, give) =>
        Effect.suspend(() => {
          const free = pool.reduce((least, other) => (other.load() < least.load() ? other : least))
          if (free.load() === 2) return Effect.fail(new SpeechFailed({ reason: "overloaded" }))
          // A start takes half a second, so the second process starts with the first utterance, before it is needed.
          // Each takes 100 MB, so the third starts when it is needed.
          pool[1]?.prepare()
          return free.speak(utterance.isSsml ? { ...utterance, text: Ssml.harmless(utterance.text) } : utterance, give)
        })
    }
  })
