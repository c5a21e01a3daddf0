import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { type ApiError, envelope, httpStatus } from "../../../domain/ApiError.ts"
import type { Rendered } from "../../../runtime/idempotency/Slot.ts"

export const renderError = (error: ApiError): Rendered => ({ status: httpStatus(error), body: envelope(error) })

/** Answers with the exact bytes of `rendered`; nothing is encoded twice. */
export const respond = (rendered: Rendered): HttpServerResponse.HttpServerResponse =>
  rendered.body === null
    ? HttpServerResponse.empty({ status: rendered.status })
    : HttpServerResponse.text(rendered.body, { status: rendered.status, contentType: "application/json" })

/** Answers with the error, and with `Retry-After` where it says when the request may succeed. */
export const refuse = (error: ApiError): HttpServerResponse.HttpServerResponse => {
  const response = respond(renderError(error))
  return error.retryAfterSecs === undefined
    ? response
    : HttpServerResponse.setHeader(response, "retry-after", String(error.retryAfterSecs))
}

/** Answers with a value that needs no encoding but JSON's own (`XView.ts` values are wire values). */
export const of = (value: unknown, status = 200): HttpServerResponse.HttpServerResponse =>
  respond({ status, body: JSON.stringify(value) })

/** Answers 200 with JSON in pieces. */
export const streamed = (pieces: Stream.Stream<string>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(Stream.encodeText(pieces), { contentType: "application/json" })

/** Answers with the bytes that the door rendered. */
export const rendered = <E, R>(door: Effect.Effect<Rendered, E, R>) => Effect.map(door, respond)
