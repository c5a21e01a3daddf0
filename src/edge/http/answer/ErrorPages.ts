import { Cause, Effect, Layer } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as PassingDefect from "../../../runtime/store/PassingDefect.ts"
import * as JsonResponse from "./JsonResponse.ts"
import * as RequestTarget from "../connection/RequestTarget.ts"
import type * as RouteTable from "../RouteTable.ts"

const unknownRoute = ApiError.of("not_found", "there is no such path")
const malformed = ApiError.of(
  "invalid_request",
  "the path is not percent-encoded UTF-8, or an id in it is far too long"
)
const wrongMethod = ApiError.of("method_not_allowed", "this path does not have this method")
const fault = ApiError.of("internal_error", "something went wrong on our side")

const respond = (error: ApiError) => JsonResponse.respond(JsonResponse.renderError(error))

/** The shortest time between two warnings about the same outage, because an outage fails every request. */
const saidEveryMs = 10_000
const makeMet = () => {
  const saidAt = new Map<string, number>()
  return (why: string, cause: Cause.Cause<unknown>) =>
    Effect.flatMap(Monotonic.now, (now) => {
      if (now - (saidAt.get(why) ?? -Infinity) < saidEveryMs) return Effect.logDebug(why)
      saidAt.set(why, now)
      return Effect.logWarning(why, cause)
    })
}

const notRouted = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  Effect.fail(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) }))
)

/** Refuses a path with an empty part. No route has one; the router would take it for an empty id. */
const wholePath = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  RequestTarget.pathOf(request.url).includes("//") ? notRouted : Effect.void
)

/**
 * Gives the error envelope to everything that no endpoint answers: unknown paths, wrong methods, and defects, which are
 * logged with their cause.
 */
export const layer = (table: ReturnType<typeof RouteTable.make>) =>
  Layer.merge(
    HttpRouter.addAll(
      table.shadowed.map(({ method, path }) => HttpRouter.route(method as "GET", path as `/${string}`, notRouted))
    ),
    pages(table)
  )

const pages = (table: ReturnType<typeof RouteTable.make>, met = makeMet()) =>
  HttpRouter.middleware(
    (httpEffect) =>
      Effect.catchCause(Effect.andThen(wholePath, httpEffect), (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const error = Cause.squash(cause)
          const path = RequestTarget.pathOf(request.url)
          if (HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound") {
            const allowed = table.methodsOf(path)
            if (allowed.length === 0) return Effect.succeed(respond(unknownRoute))
            const allow = allowed.join(", ")
            if (request.method === "OPTIONS")
              return Effect.succeed(HttpServerResponse.empty({ status: 204, headers: { allow } }))
            // The router knows this method and path, so it failed to read a parameter.
            if (allowed.includes(request.method)) return Effect.succeed(respond(malformed))
            return Effect.succeed(HttpServerResponse.setHeader(respond(wrongMethod), "allow", allow))
          }
          if (error instanceof ApiError) return Effect.succeed(respond(error))
          const known = PassingDefect.of(error)
          return Effect.as(
            Effect.annotateLogs(known === null ? Effect.logError("a request failed", cause) : met(known.why, cause), {
              method: request.method,
              path
            }),
            respond(known === null ? fault : known.answer)
          )
        })
      }),
    { global: true }
  )
