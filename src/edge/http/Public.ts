import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import type { ApiError } from "../../domain/ApiError.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Slot from "../../runtime/idempotency/Slot.ts"
import * as Answer from "./answer/Answer.ts"
import { ClientAddress } from "./connection/ClientAddress.ts"
import * as IdempotencyMiddleware from "./request/IdempotencyMiddleware.ts"
import * as EdgeMetrics from "./EdgeMetrics.ts"
import { BodyLimit } from "./Endpoint.ts"
import { RateLimit, type RuleName } from "./request/RateLimit.ts"
import { ApiErrorSchema } from "./answer/ApiErrorSchema.ts"
import * as JsonResponse from "./answer/JsonResponse.ts"
import * as RequestBody from "./request/RequestBody.ts"

/** The rules under which every valid request of a public endpoint is counted, by the caller's address. */
export class LimitedBy extends Context.Service<LimitedBy, ReadonlyArray<RuleName>>()("trunkline/http/LimitedBy") {}

interface Admitted {
  readonly ip: string | null
  /**
   * Honours an Idempotency-Key although no API key namespaces it: `owner` is `email:` and the lower-cased address.
   * Without an Idempotency-Key, `run` gets `null`.
   */
  readonly once: <R>(
    owner: string,
    run: (slot: Slot.Slot | null) => Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>
}

/** The caller of a public endpoint. */
export class Visitor extends Context.Service<
  Visitor,
  {
    /** Counts the request under its endpoint's rules. Handlers run it first, so invalid requests do not count. */
    readonly admit: Effect.Effect<Admitted, ApiError>
    /** Counts by the address together with the subject of the request. */
    readonly admitFor: (subject: string) => Effect.Effect<Admitted, ApiError>
  }
>()("trunkline/http/Visitor") {}

/** Guards every endpoint without an API key: 400 first, then 429, then the endpoint's own errors. */
export class Public extends HttpApiMiddleware.Service<Public, { provides: Visitor }>()("trunkline/http/Public", {
  error: ApiErrorSchema
}) {
  static readonly layer = Layer.effect(
    Public,
    Effect.gen(function* () {
      const addresses = yield* ClientAddress
      const limits = yield* RateLimit
      const once = yield* IdempotencyMiddleware.once

      return Public.of((httpEffect, { endpoint }) => {
        const rules = Context.getOrUndefined(endpoint.annotations, LimitedBy)
        if (rules === undefined) throw new Error(`${endpoint.method} ${endpoint.path} is public and has no limit`)
        const bodyBytes = Context.get(endpoint.annotations, BodyLimit)
        const answer = Answer.of(httpEffect)

        const run = Effect.fnUntraced(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const ip = addresses.of(request)
          const fault = Answer.urlFault(endpoint, request.url)
          if (fault !== null) return yield* Effect.fail(fault)
          const body = endpoint.method === "GET" ? new Uint8Array() : yield* RequestBody.read(request, bodyBytes)
          const admitted: Admitted = {
            ip,
            once: (owner, run) =>
              Effect.flatMap(IdempotencyMiddleware.keyOf(request), (idempotencyKey) => {
                if (idempotencyKey === null) return Effect.uninterruptible(run(null))
                const path = IdempotencyMiddleware.pathOf(request)
                const { method } = request
                const slot = Slot.make({ owner, credential: body, idempotencyKey, method, path, body })
                return once(slot, run(slot))
              })
          }
          const counted = Effect.fnUntraced(function* (by: string) {
            for (const rule of rules) yield* Effect.tapError(limits.take(rule, by), () => EdgeMetrics.refuse(rule))
            return admitted
          })
          const visitor = {
            admit: counted(IpAddress.subscriber(ip)),
            admitFor: (subject: string) => counted(`${IpAddress.subscriber(ip)} ${subject}`)
          }
          return yield* RequestBody.withoutEmpty(request, body, Effect.provideService(answer, Visitor, visitor))
        })

        return EdgeMetrics.measured(endpoint)(
          Effect.catch(run(), (error) => Effect.succeed(JsonResponse.refuse(error)))
        )
      })
    })
  )
}
