import { Result } from "effect"
import type { Speech } from "../media/PlaybackMessages.ts"
import type { Engine, Voice } from "./Engine.ts"

interface Chosen {
  readonly engine: Engine
  readonly voice: Voice
}

/** The field at fault, and the reason. */
export interface Refusal {
  readonly field: "voice" | "language" | "payload_type"
  readonly detail: string
}

type Wanted = Omit<Speech, "text">
type Gender = "male" | "female"

const isGender = (voice: string): voice is Gender => voice === "male" || voice === "female"

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const primary = (language: string): string => language.split("-")[0] ?? language

/** How well a voice speaks a language (RFC 4647 section 3.4): 3 as asked, 2 any, 1 another region, 0 not at all. */
const fitness = ({ language }: Voice, wanted: string): number =>
  language === null ? 2 : same(language, wanted) ? 3 : same(primary(language), primary(wanted)) ? 1 : 0

const best = (voices: ReadonlyArray<Voice>, wanted: string): Voice | null => {
  const fit = voices.filter((voice) => fitness(voice, wanted) > 0)
  return fit.toSorted((a, b) => fitness(b, wanted) - fitness(a, wanted))[0] ?? null
}

/** The engine's voices of one gender, or all of its voices when it has none of that gender. */
const ofGender = ({ voices }: Engine, gender: Gender | null): ReadonlyArray<Voice> => {
  const own = voices.filter((voice) => voice.gender === gender)
  return gender === null || own.length === 0 ? voices : own
}

/** The best voice of this gender, from the first engine that has one for the language. */
const byGender = (engines: ReadonlyArray<Engine>, gender: Gender, language: string | null): Chosen | null => {
  for (const engine of engines) {
    const voices = ofGender(engine, gender)
    const voice = language === null ? voices[0] : best(voices, language)
    if (voice !== undefined && voice !== null) return { engine, voice }
  }
  return null
}

const byName = (engines: ReadonlyArray<Engine>, wanted: string): Chosen | null => {
  const dot = wanted.indexOf(".")
  const engine = engines.find(({ name }) => same(name, wanted.slice(0, dot)))
  const voice = engine?.voices.find(({ name }) => same(name, wanted.slice(dot + 1)))
  return engine === undefined || voice === undefined ? null : { engine, voice }
}

/**
 * Chooses the voice for a speech. `<engine>.<voice>` is that voice; `male` and `female` are those of the default
 * engine, or of the first that speaks the language. When the named voice speaks another language, one of the same
 * engine replaces it.
 */
export const choose = (
  engines: ReadonlyArray<Engine>,
  { language, textType, voice: wanted }: Wanted
): Result.Result<Chosen, Refusal> => {
  if (engines.length === 0)
    return Result.fail({
      field: "voice",
      detail: "this service has no speech engine; its operator can install espeak-ng or flite, or set TTS_URL"
    })
  const found = isGender(wanted) ? byGender(engines, wanted, language) : byName(engines, wanted)
  if (found === null)
    return Result.fail(
      isGender(wanted)
        ? { field: "language", detail: `no voice of this service speaks ${language ?? "anything"}` }
        : { field: "voice", detail: `the voice is not known: male, female, or one of ${some(names(engines))}` }
    )
  const chosen = language === null ? found : inLanguage(found, language)
  if (textType === "ssml" && !chosen.engine.takesSsml)
    return Result.fail({ field: "payload_type", detail: `the engine ${chosen.engine.name} takes no SSML` })
  return Result.succeed(chosen)
}

const inLanguage = ({ engine, voice }: Chosen, language: string): Chosen => {
  const other = fitness(voice, language) > 1 ? null : best(ofGender(engine, voice.gender), language)
  return other === null || fitness(other, language) <= fitness(voice, language)
    ? { engine, voice }
    : { engine, voice: other }
}

/** The engines, each with only the voices that speak the language, in any region. */
export const speaking = (engines: ReadonlyArray<Engine>, language: string): ReadonlyArray<Engine> =>
  engines.map((engine) => ({ ...engine, voices: engine.voices.filter((voice) => fitness(voice, language) > 0) }))

/** Public names, in the order of the engines. */
export const names = (engines: ReadonlyArray<Engine>): ReadonlyArray<string> =>
  engines.flatMap(({ name, voices }) => voices.map((voice) => `${name}.${voice.name}`))

/** The most voices that an error names. */
const named = 8
const some = (all: ReadonlyArray<string>): string =>
  all.length <= named
    ? all.join(", ")
    : `${all.slice(0, named).join(", ")} and ${all.length - named} more (GET /v1/voices)`
