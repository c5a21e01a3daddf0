import { Cause, Clock, type Context, Effect, Exit, Metric } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { ApiError, httpStatus } from "../../domain/ApiError.ts"
import * as PassingDefect from "../../runtime/store/PassingDefect.ts"
import type { Cut, Watch } from "./connection/ConnectionGuard.ts"

const open = Metric.gauge("http_connections", { description: "Open connections of the API" })
const cut = Metric.counter("http_connections_cut_total", {
  description:
    "Connections that the service ended: no room, an answer not read, a request behind its answer, pipelining",
  incremental: true
})
const answered = Metric.counter("http_requests_total", {
  description: "Requests of each route by status; gone: the client went away before its answer",
  incremental: true
})
const took = Metric.histogram("http_request_seconds", {
  description: "From a request to its answer, by route, the wait for its turn included",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})
const refused = Metric.counter("http_refused_total", {
  description: "Requests that a limit refused: a rate, or a turn that did not come",
  incremental: true
})

/** Counts connections by plain callbacks. */
export const connections: Effect.Effect<Watch> = Effect.map(Effect.context(), (context) => ({
  opened: (count) => open.updateUnsafe(count, context),
  cut: (reason: Cut) => Metric.withAttributes(cut, { reason }).updateUnsafe(1, context)
}))

/** Counts a request that this limit refused. */
export const refuse = (limit: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(refused, { limit }), 1)

/** The status that `ErrorPages` answers with. */
const statusOf = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasInterruptsOnly(cause)) return "gone"
  const error = Cause.squash(cause)
  const answer = error instanceof ApiError ? error : PassingDefect.of(error)?.answer
  return answer === undefined ? "500" : String(httpStatus(answer))
}

/** Counts an endpoint's answers and measures their time. The metric attributes are built once for each status. */
export const measured = (
  endpoint: HttpApiEndpoint.Top
): (<E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) => {
  const route = { method: endpoint.method, route: endpoint.path }
  const seconds = Metric.withAttributes(took, route)
  const counters = new Map<string, typeof answered>()
  const counterOf = (status: string) => {
    const counter = counters.get(status) ?? Metric.withAttributes(answered, { ...route, status })
    counters.set(status, counter)
    return counter
  }
  const note = (context: Context.Context<never>, status: string, ms: number) => {
    counterOf(status).updateUnsafe(1, context)
    seconds.updateUnsafe(ms / 1_000, context)
  }
  return (answer) =>
    Clock.clockWith((clock) => {
      const began = Monotonic.read(clock)
      return Effect.onExit(answer, (exit) =>
        Effect.contextWith((context: Context.Context<never>) => {
          const status = Exit.isSuccess(exit) ? String(exit.value.status) : statusOf(exit.cause)
          note(context, status, Monotonic.read(clock) - began)
          return Effect.void
        })
      )
    })
}
