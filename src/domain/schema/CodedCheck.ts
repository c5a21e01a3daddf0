import { Schema } from "effect"
import type { Code } from "../ErrorCatalogue.ts"

/** Checks of fields whose failure has an error code of its own. Every other fault of a field is `invalid_request`. */
export const codeKey = "trunkline/code"

declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      /** Set by `coded`, `disagreement`, `requiredAs` and the ids of `PathId`. */
      readonly "trunkline/code"?: Code | undefined
    }
  }
}

/** A check whose failure is answered with `code`: `event_types_required`, `invalid_target_url` and the like. */
export const coded = <A>(code: Code, check: (value: A) => string | undefined) =>
  Schema.makeFilter<A>(check, { [codeKey]: code })

/** Checks whether valid fields disagree, or ask for something that is not available: 422 `unprocessable`. */
export const disagreement = <A>(check: (value: A) => string | undefined) => coded("unprocessable", check)

/** A field whose absence is answered with `code`. */
export const requiredAs = <S extends Schema.Top>(code: Code, schema: S) => schema.annotateKey({ [codeKey]: code })
