import { Cause, Effect, Layer } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlError } from "effect/sql/SqlError"
import { type Rejection, rejection } from "../domain/ErrorCatalogue.ts"
import { Rejected } from "../domain/Rejected.ts"
import * as Outage from "../store/Outage.ts"
import * as IdempotencyMiddleware from "./IdempotencyMiddleware.ts"
import * as Refusal from "./Refusal.ts"
import type * as RouteTable from "./RouteTable.ts"

const unknownRoute = rejection("not_found", "there is no such path")
const malformed = rejection("invalid_request", "the path is not percent-encoded UTF-8, or an id in it is far too long")
const wrongMethod = rejection("method_not_allowed", "this path does not have this method")
const unavailable = rejection("service_unavailable", "the service cannot reach its database at the moment")
const fault = rejection("internal_error", "something went wrong on our side")

const respond = (rejection: Rejection) => Refusal.respond(Refusal.render(rejection))

/** The database is away: 503 without `Retry-After`; anything else that dies is a fault of ours. */
const isOutage = (defect: unknown): boolean => defect instanceof SqlError && Outage.is(defect)

const notRouted = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  Effect.fail(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) }))
)

/**
 * The envelope around everything that no endpoint answers: unknown paths, wrong methods, defects (logged with their
 * cause).
 */
export const layer = (table: ReturnType<typeof RouteTable.make>) =>
  Layer.merge(
    HttpRouter.addAll(
      table.shadowed.map(({ method, path }) => HttpRouter.route(method as "GET", path as `/${string}`, notRouted))
    ),
    pages(table)
  )

const pages = (table: ReturnType<typeof RouteTable.make>) =>
  HttpRouter.middleware(
    (httpEffect) =>
      Effect.catchCause(httpEffect, (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const error = Cause.squash(cause)
          const path = IdempotencyMiddleware.pathOf(request)
          if (HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound") {
            const allowed = table.methodsOf(path)
            if (allowed.length === 0) return Effect.succeed(respond(unknownRoute))
            const allow = allowed.join(", ")
            if (request.method === "OPTIONS")
              return Effect.succeed(HttpServerResponse.empty({ status: 204, headers: { allow } }))
            // The router knows method and path, and could not read a parameter.
            if (allowed.includes(request.method)) return Effect.succeed(respond(malformed))
            return Effect.succeed(HttpServerResponse.setHeader(respond(wrongMethod), "allow", allow))
          }
          if (error instanceof Rejected) return Effect.succeed(respond(error))
          const outage = isOutage(error)
          return Effect.as(
            Effect.annotateLogs(
              outage
                ? Effect.logWarning("a request met an unreachable database", cause)
                : Effect.logError("a request failed", cause),
              { method: request.method, path }
            ),
            respond(outage ? unavailable : fault)
          )
        })
      }),
    { global: true }
  )
