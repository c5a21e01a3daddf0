import { Schema } from "effect"
import * as Id from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"
import { of } from "../../domain/schema/RequestField.ts"
import * as EgressTarget from "../../ports/egress/EgressTarget.ts"

/** The bodies of verbs, and fields that several of them have. */

/** The opaque part of ids in examples. */
export const opaque = "0123456789abcdef".repeat(2)

export const id = <P extends Id.Prefix>(prefix: P, description: string) =>
  of(Id.spelled(prefix), description, Id.ofOpaque(prefix, opaque))

/** The egress port also checks scheme, host and address. */
export const httpsUrl = (description: string) =>
  Secret.url(Schema.String.check(Schema.isMaxCodePoints(EgressTarget.maxUrlLength))).annotate({
    format: "uri",
    description: `${description} HTTPS only; no user name, no private address.`,
    examples: ["https://example.com/welcome.wav"]
  })

export const channels = of(Schema.Literals(["single", "dual"]), "`dual`: each side on a channel of its own.", "single")
export const format = of(Schema.Literals(["mp3", "wav"]), "Of the recording.", "mp3")

/** A recording without the silence at its ends. */
export const trim = Schema.optionalKey(
  of(
    Schema.Literals(["trim-silence"]),
    "The silence at the beginning and the end is left out of the file.",
    "trim-silence"
  )
)

export { body, int, matching, of, or } from "../../domain/schema/RequestField.ts"
export { nothing } from "../../domain/schema/Wire.ts"
