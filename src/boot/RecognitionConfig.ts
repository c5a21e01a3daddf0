import { Redacted, Result } from "effect"
import { OperatorTarget } from "../egress/OperatorTarget.ts"
import type { Quality } from "../speech/Recognizer.ts"

/** The engines that recognize speech, in the order in which one is taken where none is named. */
export const engines = ["deepgram", "vosk", "openai", "pocketsphinx"] as const
export type EngineName = (typeof engines)[number]

/** An engine, and which of its models; null: its default. */
export interface Choice {
  readonly engine: EngineName
  readonly model: string | null
}

export interface Server {
  readonly target: OperatorTarget
  readonly apiKey: Redacted.Redacted | null
}

/** What is configured of speech recognition, guide/transcription.md#engines. */
export interface RecognitionConfig {
  readonly deepgram: (Server & { readonly apiKey: Redacted.Redacted }) | null
  readonly vosk: OperatorTarget | null
  readonly openai: Server | null
  /** Null: the first of `engines` that there is. */
  readonly chosen: Readonly<Record<Quality, Choice | null>>
}

interface Environment {
  readonly optional: (variable: string) => string | null
  readonly text: (variable: string, otherwise: string) => string
  readonly fail: (variable: string, detail: string) => never
}

export const read = ({ fail, optional, text }: Environment): RecognitionConfig => {
  const target = (variable: string, url: string, protocols: ReadonlyArray<string>): OperatorTarget => {
    if (!URL.canParse(url) || !protocols.includes(new URL(url).protocol))
      return fail(variable, `must be a URL that begins with ${protocols.map((each) => `${each}//`).join(" or ")}`)
    return Result.match(OperatorTarget.configured(url.replace(/\/+$/, ""), { plain: true }), {
      onSuccess: (found) => found,
      onFailure: (fault) => fail(variable, fault)
    })
  }
  const secret = (variable: string): Redacted.Redacted | null => {
    const value = optional(variable)
    return value === null ? null : Redacted.make(value)
  }
  const service = (variable: string, protocols: ReadonlyArray<string>) => {
    const url = optional(variable)
    return url === null ? null : target(variable, url, protocols)
  }
  const sockets = ["ws:", "wss:"]
  const deepgramKey = secret("STT_DEEPGRAM_API_KEY")
  const openai = service("STT_OPENAI_URL", ["http:", "https:"])
  const servers = {
    deepgram:
      deepgramKey === null
        ? null
        : {
            target: target("STT_DEEPGRAM_URL", text("STT_DEEPGRAM_URL", "wss://api.deepgram.com"), sockets),
            apiKey: deepgramKey
          },
    vosk: service("STT_VOSK_URL", sockets),
    openai: openai === null ? null : { target: openai, apiKey: secret("STT_OPENAI_API_KEY") }
  }
  const needs = { deepgram: "STT_DEEPGRAM_API_KEY", vosk: "STT_VOSK_URL", openai: "STT_OPENAI_URL" }
  const choice = (variable: string): Choice | null => {
    const value = optional(variable)
    if (value === null) return null
    const [, name, model = null] = /^([a-z]+)(?::([\w./-]{1,64}))?$/u.exec(value) ?? []
    const engine = engines.find((known) => known === name)
    if (engine === undefined)
      return fail(
        variable,
        `must be one of ${engines.join(", ")}, with a model behind a colon if you like, not "${value}"`
      )
    if (engine !== "pocketsphinx" && servers[engine] === null) return fail(variable, `needs ${needs[engine]}`)
    return { engine, model }
  }
  return { ...servers, chosen: { fast: choice("STT_FAST"), accurate: choice("STT_ACCURATE") } }
}
