import { Schema } from "effect"
import * as Secret from "../../domain/schema/Secret.ts"
import type { Speech } from "../../ports/media/PlaybackMessages.ts"
import * as BodyField from "./BodyField.ts"
import type { Speaking } from "./Verb.ts"

/** The fields of bodies with a text to be spoken, guide/calls.md#speak. */

const mostCharacters = 2000

export const payload = (description: string, example: string) =>
  Secret.text(
    BodyField.of(
      Schema.String.check(Schema.isMinLength(1), Schema.isMaxCodePoints(mostCharacters)),
      description,
      example
    )
  )

/** How a text is spoken. */
export const manner = {
  voice: BodyField.of(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128)),
    "`<engine>.<voice>`, or `male` or `female` of the default engine.",
    "female"
  ),
  language: BodyField.or(
    BodyField.of(
      Schema.NullOr(
        BodyField.matching(
          /^(?=.{2,35}$)[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/u,
          "must be a language tag like en-US (BCP 47)"
        )
      ),
      "BCP 47; picks a voice that speaks it.",
      "en-US"
    ),
    null
  ),
  payloadType: BodyField.or(BodyField.of(Schema.Literals(["text", "ssml"]), "What the payload is.", "text"), "text")
}
interface Manner {
  readonly voice: string
  readonly language: string | null
  readonly payloadType: "text" | "ssml"
}

export const speaking = ({ language, payloadType, voice }: Manner): Speaking => ({
  textType: payloadType,
  voice,
  language
})

export const speechOf = (manner: Manner, text: string): Speech => ({ ...speaking(manner), text })
