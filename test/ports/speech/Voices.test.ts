import { describe, expect, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { Engine, Voice } from "../../../src/ports/speech/Engine.ts"
import * as EspeakVoices from "../../../src/ports/speech/process/EspeakVoices.ts"
import * as Voices from "../../../src/ports/speech/Voices.ts"

const engine = (name: string, voices: ReadonlyArray<Voice>, takesSsml = false): Engine => ({
  name,
  voices,
  takesSsml,
  places: 1,
  ahead: 0,
  speak: () => Effect.void
})
const openai = engine("openai", [
  { name: "alloy", language: null, gender: null },
  { name: "nova", language: null, gender: "female" }
])
const espeak = engine("espeak", EspeakVoices.of(["af", "de", "en-gb", "en-us", "pt-br"]), true)
const flite = engine("flite", [{ name: "slt", language: "en-US", gender: "female" }])

const chosen = (
  engines: ReadonlyArray<Engine>,
  voice: string,
  language: string | null = null,
  textType: "text" | "ssml" = "text"
): string =>
  Result.match(Voices.choose(engines, { voice, language, textType }), {
    onSuccess: ({ engine, voice }) => `${engine.name}.${voice.name}`,
    onFailure: ({ field }) => `wrong ${field}`
  })

describe("a voice", () => {
  const local = [espeak, flite]
  it.each([
    ["male", null, "espeak.en-us"],
    ["female", null, "espeak.en-us+f3"],
    ["male", "de-DE", "espeak.de"],
    ["female", "pt-PT", "espeak.pt-br+f3"],
    ["male", "zh", "wrong language"],
    ["espeak.en-gb", null, "espeak.en-gb"],
    ["Espeak.EN-GB", null, "espeak.en-gb"],
    ["espeak.en-gb", "de", "espeak.de"],
    ["espeak.en-us+f3", "de-AT", "espeak.de+f3"],
    ["espeak.en-us", "en-GB", "espeak.en-gb"],
    ["espeak.en-us", "zh", "espeak.en-us"],
    ["flite.slt", "de", "flite.slt"],
    ["flite.rms", null, "wrong voice"],
    ["nobody.slt", null, "wrong voice"],
    ["slt", null, "wrong voice"],
    ["neutral", null, "wrong voice"]
  ])("%s in %s is %s", (voice, language, is) => {
    expect(chosen(local, voice, language)).toBe(is)
  })

  it("of the default engine comes first, and speaks whatever it is given where it knows no language", () => {
    const all = [openai, espeak, flite]
    expect(chosen(all, "female")).toBe("openai.nova")
    expect(chosen(all, "male", "de")).toBe("openai.alloy")
    expect(Voices.names(all).slice(0, 3)).toStrictEqual(["openai.alloy", "openai.nova", "espeak.en-us"])
  })

  it("takes SSML where its engine does", () => {
    expect(chosen([espeak], "male", null, "ssml")).toBe("espeak.en-us")
    expect(chosen([flite], "flite.slt", null, "ssml")).toBe("wrong payload_type")
  })

  it("is none without an engine, and says what to do", () => {
    expect(chosen([], "male")).toBe("wrong voice")
    expect(Result.getFailure(Voices.choose([], { voice: "male", language: null, textType: "text" }))).toMatchObject({
      value: { detail: expect.stringContaining("TTS_URL") }
    })
  })
})
