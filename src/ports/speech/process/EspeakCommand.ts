import { Effect } from "effect"
import type { Engine, Voice } from "../Engine.ts"
import * as EspeakVoices from "./EspeakVoices.ts"
import * as SpeechCommand from "./SpeechCommand.ts"
import * as Ssml from "./Ssml.ts"

/** The program reads UTF-8 and writes a WAVE file. */
const args = ["-b", "1", "--stdin", "--stdout"]

/** The command from Debian's package and others; null when it is not installed. */
export const find = (file = "espeak-ng"): Effect.Effect<Engine | null> =>
  Effect.map(SpeechCommand.output(file, ["--voices"], 5_000), (table) => {
    const voices = table === null ? [] : voicesOf(table)
    if (voices.length === 0) return null
    return {
      name: EspeakVoices.engine,
      voices,
      takesSsml: true,
      places: SpeechCommand.places,
      ahead: 0,
      speak: ({ isSsml, text, voice }, give) =>
        isSsml
          ? SpeechCommand.speak(file, [...args, "-v", voice, "-m"], Ssml.harmless(text), give)
          : SpeechCommand.speak(file, [...args, "-v", voice], text, give)
    }
  })

/** The second column of the table is the language by which a voice is called. */
const voicesOf = (table: string): ReadonlyArray<Voice> =>
  EspeakVoices.of(
    table
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/)[1] ?? "")
  )
