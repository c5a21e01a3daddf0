import { Effect, Schema, SchemaTransformation } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiSchema } from "effect/http-api"
import { type Code, catalogue, type Rejection } from "../domain/ErrorCatalogue.ts"
import { envelope, httpStatus, Rejected } from "../domain/Rejected.ts"
import type { Rendered } from "../idempotency/Slot.ts"

/** The wire form of every 4xx and 5xx, guide/errors.md. */
export const ErrorEnvelope = Schema.Struct({
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
 * What a handler may fail with: declared by both middlewares, so that every endpoint has it. The middleware renders it;
 * the encoding here serves the type and the published schema.
 */
export const Refused = ErrorEnvelope.pipe(
  Schema.decodeTo(
    Schema.instanceOf(Rejected),
    SchemaTransformation.transform({
      decode: ({ error }) => Rejected.of(error.code, error.message, error.param),
      encode: ({ code, message, param }) => ({
        error: param === undefined ? { code, message } : { code, message, param }
      })
    })
  ),
  HttpApiSchema.status(400)
)

export const render = (rejection: Rejection): Rendered => ({
  status: httpStatus(rejection),
  body: envelope(rejection)
})

/** The exact bytes of `rendered`; nothing is encoded twice. */
export const respond = (rendered: Rendered): HttpServerResponse.HttpServerResponse =>
  rendered.body === null
    ? HttpServerResponse.empty({ status: rendered.status })
    : HttpServerResponse.text(rendered.body, { status: rendered.status, contentType: "application/json" })

/** A 200 with a value that needs no encoding but JSON's own (`XView.ts` values are wire values). */
export const json = (value: unknown, status = 200): HttpServerResponse.HttpServerResponse =>
  respond({ status, body: JSON.stringify(value) })

/** How a handler answers with what its door rendered. */
export const rendered = <E, R>(door: Effect.Effect<Rendered, E, R>) => Effect.map(door, respond)
