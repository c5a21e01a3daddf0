import { Effect, Exit } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { httpStatus, ApiError } from "../../../domain/ApiError.ts"
import { Idempotency } from "../../../runtime/idempotency/Idempotency.ts"
import type { Slot } from "../../../runtime/idempotency/Slot.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as RequestTarget from "../connection/RequestTarget.ts"

/** The longest Idempotency-Key, guide/idempotency.md#which-requests. */
const keyLimit = 128

const empty = ApiError.of("invalid_request", "the Idempotency-Key is empty; give each request one of its own")
const tooLong = ApiError.of("idempotency_key_too_long", `an Idempotency-Key has at most ${keyLimit} characters`)

/** Counts Unicode code points, like every length. Node gives the bytes of a header as Latin-1. */
const lengthOf = (key: string): number =>
  key.length <= keyLimit ? key.length : Array.from(Buffer.from(key, "latin1").toString()).length

/**
 * The request's Idempotency-Key; `null` when it has none. An empty one is refused, because its sender believes that a
 * repetition is safe.
 */
export const keyOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string | null, ApiError> => {
  const key = request.headers["idempotency-key"]
  if (key === undefined) return Effect.succeed(null)
  if (key === "") return Effect.fail(empty)
  return lengthOf(key) > keyLimit ? Effect.fail(tooLong) : Effect.succeed(key)
}

/**
 * The path that identifies a request: without query and trailing slash, and with one spelling for each part, however it
 * was percent-encoded. Paths of ids and words need no change.
 */
export const pathOf = (request: HttpServerRequest.HttpServerRequest): string => {
  const path = RequestTarget.pathOf(request.url)
  const whole = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  return odd.test(whole) ? whole.split("/").map(spelled).join("/") : whole
}

const odd = /[^A-Za-z0-9\-._~/]/

/** A part that is not percent-encoded UTF-8 matches no route and stays unchanged. */
const spelled = (part: string): string => {
  try {
    return encodeURIComponent(decodeURIComponent(part))
  } catch {
    return part
  }
}

/**
 * Runs `effect` at most once for its slot, guide/idempotency.md#what-a-repetition-gets.
 *
 * A repetition gets the stored bytes with `Idempotent-Replayed: true`. The commit that made a success stores it; an
 * error is stored here, in a separate commit, before it is answered. 401, 429 and 5xx are not stored. A client that
 * disconnects interrupts nothing: work that has begun is finished, so that a repetition finds it.
 */
export const once = Effect.map(
  Idempotency,
  (idempotency) =>
    <R>(
      slot: Slot,
      effect: Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>
    ): Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R> =>
      Effect.uninterruptible(
        Effect.flatMap(idempotency.claim(slot), (stored) =>
          stored !== null
            ? Effect.succeed(HttpServerResponse.setHeader(JsonResponse.respond(stored), "idempotent-replayed", "true"))
            : effect.pipe(
                Effect.catch((error) => {
                  const status = httpStatus(error)
                  if (status === 401 || status === 429 || status >= 500) return Effect.fail(error)
                  const rendered = JsonResponse.renderError(error)
                  return Effect.as(idempotency.remember(slot, rendered), JsonResponse.respond(rendered))
                }),
                // After a failure the write may still be on its way into the journal, because the caller's wait can end
                // before an outage does.
                Effect.onExit((exit) =>
                  Exit.isSuccess(exit)
                    ? Effect.sync(() => idempotency.release(slot))
                    : idempotency.releaseWhenSettled(slot)
                )
              )
        )
      )
)
