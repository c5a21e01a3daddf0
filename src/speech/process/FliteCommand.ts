import { availableParallelism } from "node:os"
import { Effect } from "effect"
import type { Engine, Voice } from "../Engine.ts"
import * as Command from "./Command.ts"

/** What its own voices are; `kal` is the fastest, `slt` and `rms` sound best. */
const known: ReadonlyArray<Voice> = [
  { name: "slt", language: "en-US", gender: "female" },
  { name: "rms", language: "en-US", gender: "male" },
  { name: "awb", language: "en-GB", gender: "male" },
  { name: "kal", language: "en-US", gender: "male" },
  { name: "kal16", language: "en-US", gender: "male" }
]

/** CMU Flite; null where it is not installed. It reads SSML in part only, so it gets none. */
export const find = (file = "flite"): Effect.Effect<Engine | null> =>
  Effect.map(Command.output(file, ["-lv"], 5_000), (list) => {
    const listed = new Set(list?.replace(/^.*:/, "").trim().split(/\s+/))
    const voices = known.filter(({ name }) => listed.has(name))
    if (voices.length === 0) return null
    return {
      name: "flite",
      voices,
      takesSsml: false,
      places: availableParallelism(),
      ahead: 0,
      speak: ({ text, voice }, give) =>
        Command.speak(file, ["-voice", voice, "-t", ` ${text}`, "-o", "/dev/stdout"], "", give)
    }
  })
