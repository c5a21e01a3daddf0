import type { Redacted } from "effect"
import type { OperatorTarget } from "../../../ports/egress/OperatorTarget.ts"
import type { Quality } from "../../../ports/speech/Recognizer.ts"
import * as Environment from "./Environment.ts"

/** The engines that recognize speech, in the order of preference when none is named. */
export const engines = ["deepgram", "vosk", "openai", "pocketsphinx"] as const
export type EngineName = (typeof engines)[number]

/** An engine and one of its models; null: the engine's default. */
export interface Choice {
  readonly engine: EngineName
  readonly model: string | null
}

interface Server {
  readonly target: OperatorTarget
  readonly apiKey: Redacted.Redacted | null
}

/** The settings of speech recognition, guide/transcription.md#engines. */
export interface RecognitionConfig {
  readonly deepgram: (Server & { readonly apiKey: Redacted.Redacted }) | null
  readonly vosk: OperatorTarget | null
  readonly openai: Server | null
  /** Null: the first available one of `engines` is used. */
  readonly chosen: Readonly<Record<Quality, Choice | null>>
}

export const read = (env: Environment.Environment): RecognitionConfig => {
  const sockets = ["ws:", "wss:"]
  const deepgramKey = env.secret("STT_DEEPGRAM_API_KEY")
  const deepgram = env.service("STT_DEEPGRAM_URL", sockets, { otherwise: "wss://api.deepgram.com" })
  const openai = env.service("STT_OPENAI_URL", ["http:", "https:"])
  const servers = {
    deepgram: deepgramKey === null || deepgram === null ? null : { target: deepgram, apiKey: deepgramKey },
    vosk: env.service("STT_VOSK_URL", sockets),
    openai: openai === null ? null : { target: openai, apiKey: env.secret("STT_OPENAI_API_KEY") }
  }
  const needs = { deepgram: "STT_DEEPGRAM_API_KEY", vosk: "STT_VOSK_URL", openai: "STT_OPENAI_URL" }
  const choice = (variable: string): Choice | null => {
    const value = env.optional(variable)
    if (value === null) return null
    const [, name, model = null] = /^([a-z]+)(?::([\w./-]{1,64}))?$/u.exec(value) ?? []
    const engine = engines.find((known) => known === name)
    if (engine === undefined)
      return Environment.fail(
        variable,
        `must be one of ${engines.join(", ")}, with a model behind a colon if you like, not "${value}"`
      )
    if (engine !== "pocketsphinx" && servers[engine] === null)
      return Environment.fail(variable, `needs ${needs[engine]}`)
    return { engine, model }
  }
  return { ...servers, chosen: { fast: choice("STT_FAST"), accurate: choice("STT_ACCURATE") } }
}
