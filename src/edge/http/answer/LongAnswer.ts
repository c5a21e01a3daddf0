import { Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { ApiError } from "../../../domain/ApiError.ts"

/** How often an answer that is still being sent asks whether its caller may still read it. */
const everyMs = 2_000

/**
 * Cuts a streamed answer when its caller may not read it any more, guide/authentication.md#long-answers. The connection
 * is cut, so that half a file is not taken for all. Any other answer is whole in memory already and stays unchanged.
 * `refusal` gives the reason for which the caller may not read any more; null when it may.
 */
export const whileAllowed = (
  response: HttpServerResponse.HttpServerResponse,
  refusal: Effect.Effect<ApiError | null>
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Stream") return response
  // While the key cannot be looked up, the answer is sent on: an outage of the database ends no download.
  const lost = refusal.pipe(
    Effect.delay(everyMs),
    Effect.repeat({ while: (error) => error === null || error.code === "service_unavailable" }),
    Effect.andThen(Effect.interrupt)
  )
  const stream = Stream.interruptWhen(body.stream, lost)
  return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType, body.contentLength))
}
