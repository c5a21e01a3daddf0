import type { Voice } from "../Engine.ts"

/** The name of the engine, for both the command and the program of the npm package. */
export const engine = "espeak"

/** The variant of every voice that sounds like a woman. */
const female = "+f3"

/** Each language has two voices: the plain one and a woman's. American English, the default, comes first. */
export const of = (languages: ReadonlyArray<string>): ReadonlyArray<Voice> => {
  const tags = [...new Set(languages.filter((language) => /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/.test(language)))]
  const first = tags.filter((tag) => tag === "en-us")
  return [...first, ...tags.filter((tag) => tag !== "en-us")].flatMap((language): ReadonlyArray<Voice> => [
    { name: language, language, gender: "male" },
    { name: language + female, language, gender: "female" }
  ])
}
