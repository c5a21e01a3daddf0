import type { Redacted } from "effect"
import type { OperatorTarget } from "../../../ports/egress/OperatorTarget.ts"
import * as Environment from "./Environment.ts"

/** A speech server like OpenAI's. */
export interface SpeechServer {
  readonly target: OperatorTarget
  readonly apiKey: Redacted.Redacted | null
  readonly model: string
  readonly voices: ReadonlyArray<{
    readonly name: string
    readonly language: string | null
    readonly gender: "male" | "female" | null
  }>
  readonly format: { readonly type: "pcm"; readonly rate: number } | { readonly type: "wav" }
}

/** Reads names separated by commas, each optionally followed by `=` and its gender. */
const voices = (env: Environment.Environment, variable: string, otherwise: string): SpeechServer["voices"] => {
  const value = env.text(variable, otherwise)
  return value.split(",").map((voice) => {
    const [, name, gender] = /^([A-Za-z0-9_.:+-]{1,64})(?:=(male|female))?$/.exec(voice.trim()) ?? []
    if (name === undefined)
      return Environment.fail(
        variable,
        `must be names with commas, each with =male or =female if you like, not "${value}"`
      )
    return { name, language: null, gender: gender === "male" || gender === "female" ? gender : null }
  })
}

export const server = (env: Environment.Environment): SpeechServer | null => {
  const target = env.service("TTS_URL", ["https:", "http:"])
  if (target === null) return null
  const type = env.oneOf("TTS_FORMAT", "pcm", ["pcm", "wav"])
  return {
    target,
    apiKey: env.secret("TTS_API_KEY"),
    model: env.text("TTS_MODEL", "tts-1"),
    voices: voices(env, "TTS_VOICES", "alloy,onyx=male,nova=female"),
    format: type === "wav" ? { type } : { type, rate: env.integer("TTS_RATE", 24_000, 8_000, 48_000) }
  }
}
