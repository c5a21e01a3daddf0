import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { Engine } from "./Engine.ts"

const genders = ["male", "female"] as const

/** A voice as the API shows it, guide/speech.md#voices. */
export const Voice = Wire.struct({
  voice: Field.text("What `voice` takes.", "espeak.en-us"),
  engine: Field.text("Who speaks; the default engine's voices come first.", "espeak"),
  language: Field.textOrNull("A BCP 47 tag; null: it speaks whatever language the text is in.", "en-us"),
  gender: Field.oneOfOrNull("Which of `male` and `female` it may stand for; null: either.", genders),
  takesSsml: Field.flag("Whether `payload_type` may be `ssml`.", true)
}).pipe(Schema.annotateEncoded({ identifier: "Voice" }))
export type Voice = typeof Voice.Encoded

const encode = Wire.encoder(Voice)

/** The voices of all engines, in the order of the engines. */
export const of = (engines: ReadonlyArray<Engine>): ReadonlyArray<Voice> =>
  engines.flatMap(({ name: engine, takesSsml, voices }) =>
    voices.map(({ gender, language, name }) =>
      encode({ voice: `${engine}.${name}`, engine, language, gender, takesSsml })
    )
  )
