import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Result } from "effect"
import * as PcmStream from "../../../protocol/audio/file/PcmStream.ts"
import { type Engine, SpeechFailed, type Voice } from "../Engine.ts"
import * as SpeechCommand from "./SpeechCommand.ts"

/** Flite's own voices; `kal` is the fastest, `slt` and `rms` sound best. */
const known: ReadonlyArray<Voice> = [
  { name: "slt", language: "en-US", gender: "female" },
  { name: "rms", language: "en-US", gender: "male" },
  { name: "awb", language: "en-GB", gender: "male" },
  { name: "kal", language: "en-US", gender: "male" },
  { name: "kal16", language: "en-US", gender: "male" }
]

/** CMU Flite; null when it is not installed. It reads only a part of SSML, so it gets none. */
export const find = (file = "flite"): Effect.Effect<Engine | null> =>
  Effect.map(SpeechCommand.output(file, ["-lv"], 5_000), (list) => {
    const listed = new Set(list?.replace(/^.*:/, "").trim().split(/\s+/))
    const voices = known.filter(({ name }) => listed.has(name))
    if (voices.length === 0) return null
    return {
      name: "flite",
      voices,
      takesSsml: false,
      places: SpeechCommand.places,
      ahead: 0,
      speak: ({ text, voice }, give) =>
        Effect.acquireUseRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "speech-"))),
          (folder) => {
            // Flite only writes to a file: its output is a socket, which cannot be opened by name.
            const wav = join(folder, "speech.wav")
            return Effect.gen(function* () {
              const said = yield* SpeechCommand.output(file, ["-voice", voice, "-t", ` ${text}`, "-o", wav], longestMs)
              if (said === null) return yield* new SpeechFailed({ reason: "speech_failed" })
              const bytes = yield* Effect.tryPromise({
                try: () => readFile(wav),
                catch: () => new SpeechFailed({ reason: "speech_failed" })
              })
              const read = PcmStream.make({ type: "wav" }).push(bytes)
              if (Result.isFailure(read)) return yield* new SpeechFailed({ reason: "speech_failed" })
              give(read.success)
            })
          },
          (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
        )
    }
  })

/** `Watch.ts` kills it sooner. */
const longestMs = 30_000
