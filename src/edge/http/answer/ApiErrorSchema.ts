import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { ApiError } from "../../../domain/ApiError.ts"
import { type Code, catalogue } from "../../../domain/ErrorCatalogue.ts"

/** The wire form of every 4xx and 5xx, guide/errors.md. */
const ErrorEnvelope = Schema.Struct({
  error: Schema.Struct({
    code: Schema.Literals(Object.keys(catalogue) as [Code, ...Array<Code>]).annotate({
      description: "What to branch on."
    }),
    message: Schema.String.annotate({
      description: "Human text; may change. Branch on `code`. Names every fault of a request, in order, at most ten.",
      examples: ["from: is required"]
    }),
    param: Schema.optionalKey(
      Schema.String.annotate({
        description: "Path of the field, or name of the query parameter, that is at fault, where there is one.",
        examples: ["from"]
      })
    )
  }).annotate({ description: "What is wrong." })
}).annotate({ identifier: "Error", description: "The envelope of every 4xx and 5xx." })

/**
 * The error type of every handler. Both middlewares declare it, so every endpoint has it. The middleware renders the
 * error; this encoding only serves the type and the published schema.
 */
export const ApiErrorSchema = ErrorEnvelope.pipe(
  Schema.decodeTo(
    Schema.instanceOf(ApiError),
    SchemaTransformation.transform({
      decode: ({ error }) => ApiError.of(error.code, error.message, error.param),
      encode: ({ code, message, param }) => ({
        error: param === undefined ? { code, message } : { code, message, param }
      })
    })
  ),
  HttpApiSchema.status(400)
)
