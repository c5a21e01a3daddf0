import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { ApiError } from "../../../domain/ApiError.ts"
import { toApiError } from "../request/SchemaFault.ts"

/**
 * Turns every refusal of an endpoint into an `ApiError`: the handler's own error, schema faults, and a content type
 * that is not supported (400). Any other error becomes a defect.
 */
export const of = <R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R> =>
  Effect.matchEffect(handler, {
    onSuccess: (response) => (response.status === 415 ? Effect.fail(notJson) : Effect.succeed(response)),
    onFailure: (error) => {
      if (error instanceof ApiError) return Effect.fail(error)
      if (
        HttpApiError.HttpApiSchemaError.is(error) &&
        (error.kind === "Params" || error.kind === "Query" || error.kind === "Payload")
      )
        return Effect.fail(toApiError(error))
      return Effect.die(error)
    }
  })

const notJson = ApiError.of("invalid_request", "the body must be JSON, with Content-Type: application/json")

const noQuery = ApiError.of("invalid_request", "this endpoint takes no query parameters")

const noText = ApiError.of("invalid_request", "the URL holds NUL")

/**
 * Finds URL faults that no schema checks: a query on an endpoint that declares none, which is refused like an unknown
 * field, and NUL, which no database takes.
 */
export const urlFault = (endpoint: HttpApiEndpoint.Top, url: string): ApiError | null => {
  if (url.includes("%00")) return noText
  if (endpoint.query !== undefined) return null
  const at = url.indexOf("?")
  return at === -1 || at === url.length - 1 ? null : noQuery
}
